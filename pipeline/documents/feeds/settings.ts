import { z } from "zod";
import { expects, flag, line, list, object, osVersion, tableBy, text } from "../../../shared/fields.ts";
import {
  type Architecture,
  machineArchitecture,
  type PackageMetadata,
} from "../../../shared/package-metadata.ts";

/** Package repositories that relcat can emit, in the order of documentation and messages. */
export const feedNames = ["apt", "yum", "helm", "incus", "packslip"] as const;
export type FeedName = (typeof feedNames)[number];

export function feedOf(format: PackageMetadata["type"], packageType: string): FeedName | undefined {
  if (format === "deb" || format === "rpm" || format === "helm") return feedsByFormat[format];
  return format === "image" && /^(?:qcow|qcow-efi|incus)$/.test(packageType) ? "incus" : undefined;
}

/** The feed for each format of packages that `require.feeds` can name. */
export const feedsByFormat = { deb: "apt", rpm: "yum", helm: "helm", incus: "incus" } as const;

/** A name that is a path segment and a field of apt and yum configuration. */
const indexName = text("option-value", /^[a-z0-9][a-z0-9._-]{0,31}$/, "a name such as jammy or stable");
/** The mirrorlist of a repository is at `yum/NAME.mirrorlist`, where another one would have its folder. */
const repoName = text(
  "option-value",
  /^(?!.*\.mirrorlist$)[a-z0-9][a-z0-9._-]{0,31}$/,
  "a name such as stable, without the ending .mirrorlist",
);
const days = z.int(expects("option-value", "a number of days")).min(1).max(3650);

const suiteSchema = z.union(
  [
    osVersion,
    object({
      version: osVersion.optional().describe("Takes debs whose OS versions include it."),
      match: line.optional().describe("Takes debs whose file name matches this glob."),
    }),
  ],
  expects("wrong-type", 'a version such as "22.04", or an object {version, match}'),
);

const aptSchema = object({
  suites: tableBy(indexName, suiteSchema)
    .optional()
    .describe("Suites and the debs they take; default: stable, with every deb."),
  origin: line.optional().describe("Origin in Release files; default: the product."),
  label: line.optional().describe("Label in Release files; default: the origin."),
  architectures: list(machineArchitecture)
    .optional()
    .describe("Architectures if all debs are for `all`; default: amd64, arm64."),
  valid_days: days
    .optional()
    .describe(
      "Days until apt refuses an index that was not renewed; default: trust.valid_days, at least 14.",
    ),
});

const repoSchema = object({
  match: line.optional().describe("Takes rpms whose file name matches this glob."),
});

const yumSchema = object({
  repos: tableBy(repoName, repoSchema)
    .optional()
    .describe("Repositories and the rpms they take; default: stable, with every rpm."),
  filelists: flag.optional().describe("Whether to list every file of every rpm."),
  changelogs: flag.optional().describe("Whether to list the ten newest changelog entries of every rpm."),
});

const helmSchema = object({
  oci: flag.optional().describe("Whether charts are also at oci://HOST/charts/NAME."),
});

const incusSchema = object({
  os: line.optional().describe("Operating system of the images; default: the product."),
});

const packslipArtifact = object({
  bin: list(line)
    .optional()
    .describe("Paths of its executables in the archive; {version} is replaced by the version, padded."),
  libc: z
    .enum(["gnu", "musl"], expects("option-value", "gnu or musl"))
    .optional()
    .describe("C library that it needs."),
  variant: text("option-value", /^[a-z0-9][a-z0-9_.-]*$/, "a lowercase word such as fips or installer")
    .optional()
    .describe("Tells it from another file for the same machines; clients take it only if asked to."),
});
export type PackslipArtifact = z.infer<typeof packslipArtifact>;

const packslipSchema = object({
  project: text(
    "option-value",
    /^[a-z0-9-]+(\.[a-z0-9-]+)+$/,
    "a host name in lowercase, such as downloads.example.com",
  )
    .optional()
    .describe("Host that the project is called after; default: that of the site."),
  artifacts: tableBy(line, packslipArtifact).describe(
    "Package types whose files are listed, each with how clients install them.",
  ),
});
export type PackslipSettings = z.infer<typeof packslipSchema>;

/** Section `feeds` of catalog.yaml; a feed that is absent is off. */
export const feedsSchema = object({
  apt: aptSchema.optional().describe("The apt repository, from debs."),
  yum: yumSchema.optional().describe("The yum repositories, from rpms."),
  helm: helmSchema.optional().describe("The Helm repository, from charts."),
  incus: incusSchema.optional().describe("The image server for Incus, from disk images."),
  packslip: packslipSchema
    .optional()
    .describe("Signed statements of releases, for mise; see docs/clients.md."),
});

export interface AptSuite {
  name: string;
  /** OS version that a deb's bounds must include. */
  version: string | undefined;
  match: string | undefined;
  /** The channel whose releases it takes; undefined: the project has none. */
  channel?: string | undefined;
}

export interface AptSettings {
  suites: readonly AptSuite[];
  origin: string;
  label: string;
  /** If all debs are for `all`. */
  architectures: readonly Architecture[];
  /** Undefined: as long as the site's signatures. */
  validDays: number | undefined;
}

export interface YumSettings {
  /** `channel`: as for suites of apt. */
  repos: readonly { name: string; match: string | undefined; channel?: string | undefined }[];
  filelists: boolean;
  changelogs: boolean;
}

/** An OpenPGP certificate of `signers:`, under which rpms may be signed. */
export interface RpmSigner {
  /** 16 lowercase hexadecimal characters each; the primary key's first. */
  keyIds: readonly string[];
  armored: string;
}

/** The feeds that are on, with all defaults. */
export interface FeedSettings {
  apt?: AptSettings;
  yum?: YumSettings;
  /** `indexes`: one for each channel, with its folder below `charts/`. */
  helm?: { oci: boolean; indexes: readonly { channel?: string | undefined; folder: string }[] };
  incus?: { os: string };
  packslip?: PackslipSettings;
}

/** Days until apt refuses an index that was not renewed. @param siteDays `trust.valid_days` */
export const aptValidDays = ({ apt }: FeedSettings, siteDays: number): number =>
  apt?.validDays ?? Math.max(14, siteDays);

/** @param index name of the index of the default channel, such as a suite of apt */
export function indexOfChannel(index: string, channel?: string, defaultChannel?: string): string {
  if (channel === undefined || channel === defaultChannel) return index;
  return index === defaultChannel ? channel : `${index}-${channel}`;
}

const inChannels = <Index extends { name: string }>(indexes: readonly Index[], channels: readonly string[]) =>
  (channels.length > 0 ? channels : [undefined]).flatMap((channel) =>
    indexes.map((index) => ({ ...index, name: indexOfChannel(index.name, channel, channels[0]), channel })),
  );

/** Fills in defaults. @param channels the default one first */
export function feedSettings(
  { apt, yum, helm, incus, packslip }: z.infer<typeof feedsSchema>,
  product: string,
  channels: readonly string[],
): FeedSettings {
  const suites = Object.entries(apt?.suites ?? { stable: {} }).map(([name, suite]) => {
    const { version, match } = typeof suite === "string" ? { version: suite } : suite;
    return { name, version, match };
  });
  const repos = Object.entries(yum?.repos ?? { stable: {} }).map(([name, { match }]) => ({ name, match }));
  const origin = apt?.origin ?? product;
  return {
    ...(apt && {
      apt: {
        suites: inChannels(suites, channels),
        origin,
        label: apt.label ?? origin,
        architectures: apt.architectures ?? ["amd64", "arm64"],
        validDays: apt.valid_days,
      },
    }),
    ...(yum && {
      yum: {
        repos: inChannels(repos, channels),
        filelists: yum.filelists ?? false,
        changelogs: yum.changelogs ?? false,
      },
    }),
    ...(helm && {
      helm: {
        oci: helm.oci ?? false,
        indexes: inChannels([{ name: "" }], channels).map(({ channel }) => {
          return { channel, folder: channel === channels[0] ? "" : `${channel}/` };
        }),
      },
    }),
    ...(incus && { incus: { os: incus.os ?? product } }),
    ...(packslip && { packslip }),
  };
}
