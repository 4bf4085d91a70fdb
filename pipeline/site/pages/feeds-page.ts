import { keysPath } from "../../documents/feeds/signing.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { sourcesName } from "../feeds/apt-sources.ts";
import { repoFilePath } from "../feeds/yum-repo-file.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import type { Templates } from "./templates.ts";

/** `feeds/`: how people and programs follow new releases, and the package repositories that are on. */
export function feedsPage(config: SiteConfig, templates: Templates): OutputFile {
  const path = "feeds/index.html";
  const description = `News of ${config.product} releases for feed readers, and package repositories.`;
  return page(path, "feeds", templates, () => ({
    layout: pageLayout(path, { title: "Feeds", description }, config, templates),
    atom: `${config.baseUrl}/feed.atom`,
    json: `${config.baseUrl}/feed.json`,
    repositories: repositoriesOf(config),
    platforms: "../platforms/",
  }));
}

function repositoriesOf(config: SiteConfig): PageModel<"feeds">["repositories"] {
  const { baseUrl, product, feeds, feedKeys } = config;
  const files = (paths: readonly string[]) => paths.map((each) => `${baseUrl}/${each}`);
  const keys = feedKeys.length > 0 ? [keysPath(product)] : [];
  return [
    ...(feeds.apt
      ? [
          {
            name: "apt",
            use: "Debian and Ubuntu",
            addresses: files([...feeds.apt.suites.map(({ name }) => sourcesName(name, product)), ...keys]),
          },
        ]
      : []),
    ...(feeds.yum
      ? [
          {
            name: "dnf, yum and zypper",
            use: "Fedora, Red Hat and SUSE",
            addresses: files([...feeds.yum.repos.map(({ name }) => repoFilePath(name, product)), ...keys]),
          },
        ]
      : []),
    ...(feeds.helm ? [{ name: "Helm", use: "Kubernetes", addresses: files(["charts"]) }] : []),
    ...(feeds.incus
      ? [{ name: "Incus", use: "Images of containers and virtual machines", addresses: [baseUrl] }]
      : []),
  ];
}
