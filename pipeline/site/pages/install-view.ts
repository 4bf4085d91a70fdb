import type { PublishedPackage, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { shellWord } from "../../project/display.ts";
import type { ArtifactView } from "./models/file-models.ts";
import { instanceName, offersOf, repositoriesWith } from "./repositories.ts";

/** The lines of imports are in templates/install.hbs. @returns null if nothing installs or imports the artifact */
export function installView(
  entry: PublishedPackage,
  release: Pick<PublishedRelease, "channels">,
  config: SiteConfig,
): ArtifactView["install"] {
  const offering = repositoriesWith(release, config);
  const offers = offersOf(entry, offering, config);
  const repositories = offering.flatMap(({ name, setup }) =>
    offers.flatMap(({ repository, exact }) =>
      repository === name && exact !== undefined ? [{ name, lines: [...setup, exact].join("\n") }] : [],
    ),
  );
  const isInImageServer = repositories.some(({ name }) => name === "Incus");
  const imports = importView(entry, config).filter(({ incusArchive }) => !incusArchive || !isInImageServer);
  return repositories.length + imports.length > 0 ? { repositories, imports } : null;
}

type ImportView = NonNullable<ArtifactView["install"]>["imports"][number];

/** Package types of each import command, and a pattern for the file or its unpacked form. The first match counts. */
const importers = {
  proxmoxBackup: { types: ["proxmox"], file: /\.vma(?:\.(?:zst|gz|lzo))?$/ },
  proxmoxDisk: { types: ["proxmox"], file: /\.(?:qcow2|raw|img|vmdk)$/ },
  kvm: { types: ["qcow"], file: /\.(?:qcow2|img|raw)$/ },
  kvmUefi: { types: ["qcow-efi"], file: /\.(?:qcow2|img|raw)$/ },
  ova: { types: ["esxi", "vmware"], file: /\.(?:ova|ovf)$/ },
  vmdk: { types: ["esxi", "vmware"], file: /\.vmdk$/ },
  xen: { types: ["xen"], file: /\.xva$/ },
  hyperv: { types: ["hyperv"], file: /\.vhdx?$/ },
  azure: { types: ["azure"], file: /\.vhd$/ },
  gce: { types: ["gce"], file: /\.tar\.gz$/ },
  gceUefi: { types: ["gce-efi"], file: /\.tar\.gz$/ },
  amazon: { types: ["amazon"], file: /\.(?:vhd|vhdx|vmdk|raw|ova)$/ },
  incusArchive: { types: ["incus"], file: /\.tar(?:\.(?:xz|gz|zst))?$/ },
} satisfies Record<string, { types: readonly string[]; file: RegExp }>;

type ImporterName = keyof typeof importers;
const names = Object.keys(importers) as ImporterName[];

const unpackers: readonly [RegExp, string][] = [
  [/\.gz$/, "gunzip"],
  [/\.xz$/, "unxz"],
  [/\.zst$/, "unzstd --rm"],
];

/** Tools of platforms split arguments at commas and equals signs, and take a leading dash for an option. */
const isPlain = (file: string): boolean => /^[0-9A-Za-z_][\w.+~ -]*$/.test(file);

/** @returns at most one; none if a value cannot be part of a command */
function importView(
  { record, file, url }: PublishedPackage,
  { product, platforms }: Pick<SiteConfig, "product" | "platforms">,
): ImportView[] {
  if (!isPlain(file) || /['\s\u2018-\u201B]/.test(url) || !/^[0-9a-f]{64}$/.test(record.checksum)) return [];
  const importerOf = (path: string) =>
    names.find(
      (name) => importers[name].types.includes(record.package_type) && importers[name].file.test(path),
    );
  const [ending, program] = unpackers.find(([pattern]) => pattern.test(file)) ?? [];
  const packed = importerOf(file);
  const unpackedFile = ending ? file.replace(ending, "") : file;
  const importer = packed ?? importerOf(unpackedFile);
  if (!importer) return [];
  const disk = packed ? file : unpackedFile;
  const flags = Object.fromEntries(names.map((name) => [name, name === importer])) as Record<
    ImporterName,
    boolean
  >;
  return [
    {
      ...flags,
      platform: platforms.get(record.platform) ?? record.package_type,
      url: shellWord(url),
      plainUrl: url,
      file: shellWord(file),
      plainFile: file,
      checksum: record.checksum,
      unpack: packed || !program ? "" : program,
      disk: shellWord(disk),
      plainDisk: disk,
      format: (/\.(\w+)$/.exec(disk)?.[1] ?? "").toUpperCase(),
      isVhdx: disk.endsWith(".vhdx"),
      name: instanceName(product, record.version),
    },
  ];
}
