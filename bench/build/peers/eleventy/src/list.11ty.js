export const data = { permalink: "list.json" };

export const render = ({ catalog }) =>
  JSON.stringify(catalog.releases.flatMap(({ document }) => document.packages));
