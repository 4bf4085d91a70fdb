/** Folder of a project's own templates, next to catalog.yaml. */
export const templateFolder = "templates";

/** Folder of a project's pictures, next to catalog.yaml. */
export const brandFolder = "brand";

/**
 * Templates that a project can replace. `version` is that of the values that the template gets; it is raised
 * when a value is removed, is renamed or changes its meaning, and not when one is added.
 */
export const pageTemplates: Readonly<Record<string, { version: number; use: string }>> = {
  "api.hbs": { version: 1, use: "the browsable list of the API" },
  "artifact-table.hbs": { version: 1, use: "the table around the rows of files" },
  "changed-file.hbs": { version: 1, use: "a file on the page of changes" },
  "changed-files.hbs": { version: 1, use: "a list of files that one of two releases has" },
  "changes.hbs": { version: 2, use: "the changes since the previous release" },
  "changes.js": { version: 1, use: "the script that compares two releases" },
  "channel.hbs": { version: 1, use: "the releases of a channel" },
  "compare.hbs": { version: 1, use: "the page that compares two releases" },
  "feeds.hbs": { version: 2, use: "the page of feeds and package repositories" },
  "file.hbs": { version: 2, use: "a file with its details, on the page of its release" },
  "history.hbs": { version: 1, use: "the events of a record, on the page of its release" },
  "home.hbs": { version: 2, use: "the first page, with the newest files" },
  "install.hbs": { version: 2, use: "the lines that install a file" },
  "latest.hbs": { version: 1, use: "the page that leads to the newest release" },
  "layout.hbs": { version: 1, use: "head, header and footer of every page" },
  "month-releases.hbs": { version: 1, use: "the releases of a month, on the page of all releases" },
  "month.hbs": { version: 1, use: "the files of a month" },
  "not-found.hbs": { version: 1, use: "the page for an address that does not exist" },
  "platform.hbs": { version: 2, use: "the newest files of a platform" },
  "platforms.hbs": { version: 1, use: "the list of platforms" },
  "reference.hbs": { version: 1, use: "the reference of the API" },
  "release.hbs": { version: 2, use: "a release with its files and notes" },
  "releases.hbs": { version: 1, use: "the list of all releases" },
  "repositories.hbs": { version: 1, use: "the lines that install from each package repository" },
  "row.hbs": { version: 1, use: "a file in a list" },
  "script.js": { version: 1, use: "the script of every page" },
  "search.hbs": { version: 1, use: "the search page" },
  "search.js": { version: 1, use: "the script that searches" },
  "style.css": { version: 1, use: "the style sheet of every page" },
};

/** First line of a replaced template: which one it replaces, and the version it was written for. */
export const templateMark = (name: string): string => {
  const mark = `relcat-template: ${name} ${pageTemplates[name]?.version}`;
  return name.endsWith(".hbs") ? `{{! ${mark} }}\n` : `/* ${mark} */\n`;
};

/** @returns the version in the first line; undefined: the line names no version of this template */
export function markedVersion(name: string, text: string): number | undefined {
  const [, marked, version] = /^(?:\{\{! |\/\* )relcat-template: (\S+) (\d{1,6}) /.exec(text) ?? [];
  return marked === name ? Number(version) : undefined;
}
