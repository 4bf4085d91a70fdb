import { feedSlug, keysPath } from "../../documents/feeds/signing.ts";
import type { PublishedPackage, SiteConfig } from "../../documents/published.ts";
import { shellWord } from "../../project/shell-word.ts";
import { isInSuite } from "../../selection/feed-indexes.ts";
import { yumReposOf } from "../../selection/yum-repos.ts";
import { keyFile, needsKeyFile, sourcesName } from "../feeds/apt-sources.ts";
import { feedLocation } from "../feeds/feed.ts";
import { chartAddress } from "../feeds/helm.ts";
import { imageName } from "../feeds/incus.ts";
import { repoFilePath } from "../feeds/yum-repo-file.ts";
import { importView } from "./import-view.ts";
import { instanceName } from "./instance-name.ts";
import type { ArtifactView } from "./models/file-models.ts";

type InstallView = NonNullable<ArtifactView["install"]>;

/**
 * Values of the lines that install an artifact from the site's feeds, or import an image into its platform; the lines
 * are in templates/install.hbs. Each word is quoted for a shell.
 * @returns null if there are none
 */
export function installView(entry: PublishedPackage, config: SiteConfig): InstallView | null {
  const lines = feedLines(entry, config);
  const isInImageServer = (lines?.incus.length ?? 0) > 0;
  const imports = importView(entry, config).filter(({ incusArchive }) => !incusArchive || !isInImageServer);
  return lines || imports.length > 0 ? { ...(lines ?? noLines), imports } : null;
}

const noLines: InstallView = { apt: [], yum: [], helm: [], incus: [], imports: [] };

/** Only the lines of feeds; null if no feed lists the artifact. */
export function feedLines(entry: PublishedPackage, config: SiteConfig): InstallView | null {
  const view = {
    apt: aptLines(entry, config),
    yum: yumLines(entry, config),
    helm: helmLines(entry, config),
    incus: incusLines(entry, config),
    imports: [],
  };
  return Object.values(view).some((lines) => lines.length > 0) ? view : null;
}

function aptLines(entry: PublishedPackage, config: SiteConfig): InstallView["apt"] {
  const { product, baseUrl, feeds, feedKeys } = config;
  const { metadata, record, file } = entry;
  if (!feeds.apt || metadata?.type !== "deb" || !isBelow(entry, baseUrl)) return [];
  const field = (name: string) =>
    new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "im").exec(metadata.control)?.[1];
  const [name, version] = [field("Package"), field("Version")];
  if (!name || !version) return [];
  const suites = feeds.apt.suites.filter((suite) => isInSuite(suite, { ...record, file }));
  return suites.map((suite) => ({
    suite: suite.name,
    address: `${baseUrl}/${sourcesName(suite.name, product)}`,
    file: `/etc/apt/sources.list.d/${sourcesName(suite.name, product)}`,
    key:
      feedKeys.length > 0 && needsKeyFile(suite)
        ? { address: `${baseUrl}/${keysPath(product)}`, file: keyFile(product) }
        : null,
    wanted: shellWord(`${name}=${version}`),
  }));
}

function yumLines(entry: PublishedPackage, config: SiteConfig): InstallView["yum"] {
  const { product, baseUrl, feeds } = config;
  const { metadata, file } = entry;
  if (!feeds.yum || metadata?.type !== "rpm" || !isBelow(entry, baseUrl)) return [];
  const { name, epoch, version, release, native_arch: arch } = metadata;
  const wanted = `${name}-${epoch > 0 ? `${epoch}:` : ""}${version}-${release}.${arch}`;
  return yumReposOf(file, feeds.yum).map((repo) => ({
    repo,
    address: `${baseUrl}/${repoFilePath(repo, product)}`,
    file: `/etc/yum.repos.d/${repoFilePath(repo, product)}`,
    wanted: shellWord(wanted),
  }));
}

function helmLines(entry: PublishedPackage, config: SiteConfig): InstallView["helm"] {
  const found = chartAddress(entry, config);
  if (!found) return [];
  const { chart, registry } = found;
  const repository = feedSlug(config.product);
  return [
    {
      repository,
      address: `${config.baseUrl}/charts`,
      release: feedSlug(chart.name),
      chart: `${repository}/${chart.name}`,
      version: shellWord(chart.version),
      registry: registry ?? "",
    },
  ];
}

function incusLines(entry: PublishedPackage, config: SiteConfig): InstallView["incus"] {
  const name = imageName(entry, config);
  // Incus and LXD refuse servers without TLS.
  if (!name || !config.baseUrl.startsWith("https:")) return [];
  const { record } = entry;
  const remote = feedSlug(config.product);
  return [
    {
      remote,
      address: config.baseUrl,
      image: `${remote}:${name.image}`,
      name: instanceName(config.product, record.version),
      isMachine: name.isMachine,
      // Incus starts virtual machines with UEFI and Secure Boot.
      isBios: record.package_type === "qcow",
    },
  ];
}

const isBelow = (entry: PublishedPackage, baseUrl: string): boolean =>
  typeof feedLocation(entry, baseUrl) !== "string";
