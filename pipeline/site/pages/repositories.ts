import { feedSlug, keysPath } from "../../documents/feeds/signing.ts";
import type { PublishedPackage, RepositoryOffer, SiteConfig } from "../../documents/published.ts";
import { shellWord } from "../../project/shell-word.ts";
import { isInSuite, isUbuntu } from "../../selection/feed-indexes.ts";
import { yumReposOf } from "../../selection/yum-repos.ts";
import { keyFile, needsKeyFile, sourcesName } from "../feeds/apt-sources.ts";
import { feedLocation } from "../feeds/feed.ts";
import { chartAddress } from "../feeds/helm.ts";
import { imageName } from "../feeds/incus.ts";
import { repoFilePath } from "../feeds/yum-repo-file.ts";
import { instanceName } from "./instance-name.ts";
import type { RepositoryView } from "./models/install-model.ts";

/** A package repository of the site. */
export interface Repository {
  /** Program and index, such as "apt, jammy"; different for each repository. */
  name: string;
  /** Systems that use it. */
  use: string;
  /** Lines that add it to a machine. */
  setup: readonly string[];
}

const oci = "Helm, OCI registry";

/** The repositories that are on, as configured. */
export function repositoriesOf(config: SiteConfig): Repository[] {
  const { baseUrl, product, feeds, feedKeys } = config;
  const key = feedKeys.length > 0 ? `${baseUrl}/${keysPath(product)}` : "";
  const fetched = (path: string, folder: string) => `sudo curl -fsSL ${baseUrl}/${path} -o ${folder}/${path}`;
  const suites = (feeds.apt?.suites ?? []).map((suite) => ({
    name: `apt, ${suite.name}`,
    use: systemOf(suite.version),
    setup: [
      ...(key && needsKeyFile(suite)
        ? ["sudo install -d -m 0755 /etc/apt/keyrings", `sudo curl -fsSL ${key} -o ${keyFile(product)}`]
        : []),
      fetched(sourcesName(suite.name, product), "/etc/apt/sources.list.d"),
    ],
  }));
  const repos = (feeds.yum?.repos ?? []).map(({ name }) => ({ name, file: repoFilePath(name, product) }));
  const dnf = repos.map(({ name, file }) => {
    return { name: `dnf, ${name}`, use: "Fedora and Red Hat", setup: [fetched(file, "/etc/yum.repos.d")] };
  });
  const zypper = repos.map(({ name, file }) => {
    return { name: `zypper, ${name}`, use: "SUSE", setup: [`sudo zypper addrepo ${baseUrl}/${file}`] };
  });
  const charts = `helm repo add ${feedSlug(product)} ${baseUrl}/charts`;
  const images = `incus remote add ${feedSlug(product)} ${baseUrl} --protocol simplestreams`;
  return [
    ...[...suites, ...dnf, ...zypper],
    ...(feeds.helm ? [{ name: "Helm", use: "Kubernetes", setup: [charts] }] : []),
    ...(feeds.helm?.oci ? [{ name: oci, use: "Kubernetes", setup: [] }] : []),
    // Incus and LXD refuse servers without TLS.
    ...(feeds.incus && baseUrl.startsWith("https:")
      ? [{ name: "Incus", use: "Incus and LXD", setup: [images] }]
      : []),
  ];
}

function systemOf(version: string | undefined): string {
  if (version === undefined) return "Debian and Ubuntu";
  return `${isUbuntu(version) ? "Ubuntu" : "Debian"} ${version}`;
}

/** The repositories that list an artifact, with the commands that install it. */
export const offersOf = (entry: PublishedPackage, config: SiteConfig): RepositoryOffer[] => [
  ...aptOffers(entry, config),
  ...yumOffers(entry, config),
  ...helmOffers(entry, config),
  ...incusOffers(entry, config),
];

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
  return yumReposOf(file, feeds.yum).flatMap((repo) => [
    { repository: `dnf, ${repo}`, exact: `sudo dnf install ${exact}`, newest: `sudo dnf install ${newest}` },
    { repository: `zypper, ${repo}`, newest: `sudo zypper install ${newest}` },
  ]);
}

function helmOffers(entry: PublishedPackage, config: SiteConfig): RepositoryOffer[] {
  const found = chartAddress(entry, config);
  if (!found) return [];
  const { chart, registry } = found;
  const version = `--version ${shellWord(chart.version)}`;
  const install = `helm install ${feedSlug(chart.name)} ${feedSlug(config.product)}/${chart.name} ${version}`;
  const pull = `helm pull ${registry} ${version}`;
  return [
    { repository: "Helm", exact: install, newest: install },
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
