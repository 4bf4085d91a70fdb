import { feedSlug, keysPath } from "../../documents/feeds/signing.ts";
import type {
  PublishedPackage,
  PublishedRelease,
  RepositoryOffer,
  SiteConfig,
} from "../../documents/published.ts";
import { shellWord } from "../../project/display.ts";
import { isOffered } from "../../selection/channels.ts";
import { isInSuite, isUbuntu, yumReposOf } from "../../selection/feed-indexes.ts";
import { keyFile, needsKeyFile, sourcesName } from "../feeds/apt.ts";
import { feedLocation } from "../feeds/feed.ts";
import { chartAddress } from "../feeds/helm.ts";
import { imageName } from "../feeds/incus.ts";
import { repoFilePath } from "../feeds/yum.ts";
import type { RepositoryView } from "./models/file-models.ts";

export interface Repository {
  /** Program and index, such as "apt, jammy"; different for each repository. */
  name: string;
  /** Systems that use it. */
  use: string;
  /** Lines that add it to a machine. */
  setup: readonly string[];
  /** The channel whose releases it has; absent: the project has none. */
  channel?: string | undefined;
}

const oci = "Helm, OCI registry";

export function repositoriesOf(config: SiteConfig): Repository[] {
  const { baseUrl, product, feeds, feedKeys } = config;
  const key = feedKeys.length > 0 ? `${baseUrl}/${keysPath(product)}` : "";
  const fetched = (path: string, folder: string) => `sudo curl -fsSL ${baseUrl}/${path} -o ${folder}/${path}`;
  const suites = (feeds.apt?.suites ?? []).map((suite) => ({
    name: `apt, ${suite.name}`,
    channel: suite.channel,
    use: systemOf(suite.version),
    setup: [
      ...(key && needsKeyFile(suite)
        ? ["sudo install -d -m 0755 /etc/apt/keyrings", `sudo curl -fsSL ${key} -o ${keyFile(product)}`]
        : []),
      fetched(sourcesName(suite.name, product), "/etc/apt/sources.list.d"),
    ],
  }));
  const repos = (feeds.yum?.repos ?? []).map((repo) => ({ ...repo, file: repoFilePath(repo.name, product) }));
  const rpms = (program: string, use: string, setupOf: (file: string) => string) =>
    repos.map(({ name, channel, file }) => {
      return { name: `${program}, ${name}`, channel, use, setup: [setupOf(file)] };
    });
  const charts = (feeds.helm?.indexes ?? []).map(({ channel, folder }) => {
    const setup = [
      `helm repo add ${helmName(product, folder)} ${baseUrl}/charts/${folder}`.replace(/\/$/, ""),
    ];
    return { name: helmRepository(folder), channel, use: "Kubernetes", setup };
  });
  const [channel] = config.channels;
  const images = `incus remote add ${feedSlug(product)} ${baseUrl} --protocol simplestreams`;
  return [
    ...suites,
    ...rpms("dnf", "Fedora and Red Hat", (file) => fetched(file, "/etc/yum.repos.d")),
    ...rpms("zypper", "SUSE", (file) => `sudo zypper addrepo ${baseUrl}/${file}`),
    ...charts,
    ...(feeds.helm?.oci ? [{ name: oci, channel, use: "Kubernetes", setup: [] }] : []),
    // Incus and LXD refuse servers without TLS.
    ...(feeds.incus && baseUrl.startsWith("https:")
      ? [{ name: "Incus", channel, use: "Incus and LXD", setup: [images] }]
      : []),
  ];
}

function systemOf(version: string | undefined): string {
  if (version === undefined) return "Debian and Ubuntu";
  return `${isUbuntu(version) ? "Ubuntu" : "Debian"} ${version}`;
}

const helmRepository = (folder: string): string => (folder === "" ? "Helm" : `Helm, ${folder.slice(0, -1)}`);

/** Name under which users add an index of charts. */
const helmName = (product: string, folder: string): string =>
  feedSlug(folder === "" ? product : `${product}-${folder}`);

export const repositoriesWith = (
  release: Pick<PublishedRelease, "channels">,
  config: SiteConfig,
): Repository[] => repositoriesOf(config).filter(({ channel }) => isOffered(release, channel));

/** @param repositories those that may list the artifact */
export const offersOf = (
  entry: PublishedPackage,
  repositories: readonly Repository[],
  config: SiteConfig,
): RepositoryOffer[] =>
  [aptOffers, yumOffers, helmOffers, incusOffers]
    .flatMap((each) => each(entry, config))
    .filter(({ repository }) => repositories.some(({ name }) => name === repository));

function aptOffers(entry: PublishedPackage, { baseUrl, feeds }: SiteConfig): RepositoryOffer[] {
  const { metadata, record, file } = entry;
  if (!feeds.apt || metadata?.type !== "deb" || !isBelow(entry, baseUrl)) return [];
  const field = (name: string) =>
    new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "im").exec(metadata.control)?.[1];
  const [name, version] = [field("Package"), field("Version")];
  if (!name || !version) return [];
  const command = "sudo apt-get update && sudo apt-get install";
  const suites = feeds.apt.suites.filter((suite) => isInSuite(suite, { ...record, file }));
  return suites.map((suite) => ({
    repository: `apt, ${suite.name}`,
    exact: `${command} ${shellWord(`${name}=${version}`)}`,
    newest: `${command} ${shellWord(name)}`,
  }));
}

function yumOffers(entry: PublishedPackage, { baseUrl, feeds }: SiteConfig): RepositoryOffer[] {
  const { metadata, file } = entry;
  if (!feeds.yum || metadata?.type !== "rpm" || !isBelow(entry, baseUrl)) return [];
  const { name, epoch, version, release, native_arch: arch } = metadata;
  const exact = shellWord(`${name}-${epoch > 0 ? `${epoch}:` : ""}${version}-${release}.${arch}`);
  const newest = shellWord(name);
  return yumReposOf(file, feeds.yum).flatMap(({ name: repo }) => [
    { repository: `dnf, ${repo}`, exact: `sudo dnf install ${exact}`, newest: `sudo dnf install ${newest}` },
    { repository: `zypper, ${repo}`, newest: `sudo zypper install ${newest}` },
  ]);
}

function helmOffers(entry: PublishedPackage, config: SiteConfig): RepositoryOffer[] {
  const found = chartAddress(entry, config);
  if (!found) return [];
  const { chart, registry } = found;
  const version = `--version ${shellWord(chart.version)}`;
  const pull = `helm pull ${registry} ${version}`;
  return [
    ...(config.feeds.helm?.indexes ?? []).map(({ folder }) => {
      const from = `${helmName(config.product, folder)}/${chart.name}`;
      const install = `helm install ${feedSlug(chart.name)} ${from} ${version}`;
      return { repository: helmRepository(folder), exact: install, newest: install };
    }),
    ...(registry ? [{ repository: oci, exact: pull, newest: pull }] : []),
  ];
}

function incusOffers(entry: PublishedPackage, config: SiteConfig): RepositoryOffer[] {
  const name = imageName(entry, config);
  if (!name) return [];
  const { record } = entry;
  const image = `${feedSlug(config.product)}:${name.image} ${instanceName(config.product, record.version)}`;
  // Incus starts virtual machines with UEFI and Secure Boot.
  const bios = record.package_type === "qcow" ? " -c security.csm=true -c security.secureboot=false" : "";
  const launch = `incus launch ${image}${name.isMachine ? " --vm" : ""}${bios}`;
  return [{ repository: "Incus", exact: launch, newest: launch }];
}

/** A name that every platform accepts for a machine or an image. */
export const instanceName = (product: string, version: string): string =>
  `${/^[a-z]/.test(feedSlug(product)) ? "" : "vm-"}${feedSlug(product)}`.slice(0, 50).replace(/-$/, "") +
  `-${version.replaceAll(".", "-")}`;

const isBelow = (entry: PublishedPackage, baseUrl: string): boolean =>
  typeof feedLocation(entry, baseUrl) !== "string";

/** One block a repository, for all of its packages among these. A repository without any has only its setup. */
export const repositoryViews = (
  repositories: readonly Repository[],
  offers: readonly RepositoryOffer[],
): RepositoryView[] =>
  repositories.map(({ name, use, setup }) => {
    const offered = offers.filter(({ repository }) => repository === name);
    const [first, ...others] = new Set(offered.map(({ newest }) => newest));
    return { name, use, lines: [...setup, first ?? []].flat().join("\n"), others };
  });
