import { keysPath } from "../../documents/feeds/signing.ts";
import type { OutputFile, RepositoryOffer, SiteConfig } from "../../documents/published.ts";
import { page, pageLayout } from "./page-layout.ts";
import { repositoriesOf, repositoryViews } from "./repositories.ts";
import type { Templates } from "./templates.ts";

/**
 * `feeds/`: how people and programs follow new releases, and the package repositories that are on.
 * @param offers the newest packages
 */
export function feedsPage(
  offers: readonly RepositoryOffer[],
  config: SiteConfig,
  templates: Templates,
): OutputFile {
  const path = "feeds/index.html";
  const { baseUrl, product, feedKeys } = config;
  const description = `News of ${product} releases for feed readers, and package repositories.`;
  return page(path, "feeds", templates, () => ({
    layout: pageLayout(path, { title: "Feeds", description }, config, templates),
    atom: `${baseUrl}/feed.atom`,
    json: `${baseUrl}/feed.json`,
    repositories: repositoryViews(repositoriesOf(config), offers),
    keys: feedKeys.length > 0 ? `${baseUrl}/${keysPath(product)}` : "",
  }));
}
