export const data = {
  pagination: { data: "catalog.releases", size: 1, alias: "release" },
  permalink: ({ release }) => `releases/${release.version}.json`,
};

export const render = ({ release }) => JSON.stringify(release.document);
