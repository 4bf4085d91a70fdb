import { z } from "zod";
import { checksum, date, id, line, packageType, version } from "../../documents/fields.ts";

const text = z.string();
const flag = z.boolean();
const count = z.int().min(0);

/** Safe HTML from a template or the Markdown renderer. Such names end in Html. */
const html = z.string();

/** Relative or http(s); no other scheme from a manifest may become a link. */
const href = z.string().regex(/^(?:https?:\/\/[^\s/\\]\S*|(?!\/\/)(?![^/?#]*:)[^\s\\]*)$/i);

/** Where customers get help: a page, or an address of mail. */
const contact = z.string().regex(/^(?:https?:\/\/|mailto:)[^\s/\\]\S*$|^$/);

const layout = z.strictObject({
  title: text,
  product: text,
  /** Empty texts are left out. */
  brand: z.strictObject({
    name: text,
    /** Size in pixels. */
    logo: z.strictObject({ href, width: count, height: count }).nullable(),
    home: href,
    homeHost: text,
    support: contact,
    footer: text,
  }),
  description: text,
  /** The page's whole address. */
  address: href,
  /**
   * True if the page has filters, which the address may set: content is hidden until they are applied, so
   * that the layout does not jump.
   */
  filtered: flag,
  /** Target of a redirecting page; empty on all others. */
  refresh: href,
  home: href,
  style: href,
  script: href,
  /** Script of this page alone; empty on most. */
  pageScript: href,
  search: href,
  policy: text,
  icon: href,
  iconType: text,
  atom: href,
  jsonFeed: href,
  packages: href,
  latest: href,
  releaseIndex: href,
  openapi: href,
  nav: z.array(z.strictObject({ href, text, current: flag })),
  /** Provisional versions on this page. */
  provisional: z.array(version),
});

const moment = z.strictObject({ datetime: text, date: text, text });

/** Programs that import an image; one of them is true. */
const importers = {
  proxmoxBackup: flag,
  proxmoxDisk: flag,
  kvm: flag,
  kvmUefi: flag,
  ova: flag,
  vmdk: flag,
  xen: flag,
  hyperv: flag,
  azure: flag,
  gce: flag,
  gceUefi: flag,
  amazon: flag,
  incusArchive: flag,
};

const command = z.strictObject({ system: text, start: text, file: text, end: text });

/** Values of the lines in install.hbs. */
const install = z.strictObject({
  apt: z.array(
    z.strictObject({
      suite: text,
      address: text,
      file: text,
      key: z.strictObject({ address: text, file: text }).nullable(),
      wanted: text,
    }),
  ),
  yum: z.array(z.strictObject({ repo: text, address: text, file: text, wanted: text })),
  helm: z.array(
    z.strictObject({
      repository: text,
      address: text,
      release: text,
      chart: text,
      version: text,
      /** Address in the OCI registry; empty if it is in none. */
      registry: text,
    }),
  ),
  incus: z.array(
    z.strictObject({
      remote: text,
      address: text,
      image: text,
      name: text,
      isMachine: flag,
      isBios: flag,
    }),
  ),
  imports: z.array(
    z.strictObject({
      ...importers,
      platform: text,
      url: text,
      plainUrl: text,
      /** Quoted for a shell, as `disk` is. */
      file: text,
      plainFile: text,
      checksum: text,
      /** Program that unpacks the file; empty if the platform takes it as it is. */
      unpack: text,
      disk: text,
      plainDisk: text,
      /** Format of the disk, in capitals. */
      format: text,
      isVhdx: flag,
      name: text,
    }),
  ),
});

/** A statement about an artifact, with its value if known. */
const statement = z.strictObject({ words: text, value: text, isHash: flag });

/** Events of a record, oldest first. The reason is that of a withdrawal; otherwise it is empty. */
const history = z.array(z.strictObject({ words: text, at: moment, reason: text }));

/** A file in a list. */
const row = z.strictObject({
  id,
  name: text,
  version,
  type: text,
  platform: text,
  operatingSystem: text,
  /** Platform, versions of its system and variant. */
  facts: z.array(text),
  /** Empty if unknown. */
  arch: text,
  /** Readable; empty if unknown. */
  size: text,
  url: href,
  /** Its details on the release's page. */
  page: href,
});

/** A file on the page of its release, with all details. */
const artifact = z.strictObject({
  id,
  name: text,
  version,
  /** Empty if it is the name. */
  file: text,
  description: text,
  type: text,
  platform: text,
  facts: z.array(text),
  arch: text,
  /** Operating system and its bounds, as text. */
  system: text,
  /** Variant of a split package; otherwise empty. */
  variant: text,
  size: text,
  /** The exact size; empty if `size` is exact. */
  bytes: text,
  history,
  checksum,
  /** Details of signer and sources. */
  provenance: z.array(statement),
  /** Files next to it that describe it. */
  documents: z.array(
    z.strictObject({ words: text, href, file: text, format: text, size: text, sha256: checksum }),
  ),
  url: href,
  commands: z.array(command),
  /** Command that shows the signature inside the file, and the expected key; null: the record states none. */
  signature: z.strictObject({ command, key: text }).nullable(),
  /** null: nothing installs or imports it. */
  install: install.nullable(),
});

const withdrawn = z.strictObject({
  id,
  name: text,
  type: text,
  reason: text,
  checksum,
  at: moment,
  /** null: no replacement. */
  replacement: z.strictObject({ version, name: text, href }).nullable(),
  history,
});

const release = z.strictObject({
  layout,
  version,
  date,
  provisional: flag,
  summaryHtml: html,
  notesHtml: html,
  /** Page of the changes since the previous release. */
  changes: href,
  count,
  unit: text,
  /** How much of the release was withdrawn; empty if nothing was. */
  withdrawal: text,
  /** True if no file is left. */
  isGone: flag,
  withdrawn: z.array(withdrawn),
  groups: z.array(
    z.strictObject({
      anchor: text,
      name: text,
      /** `anchor` is empty on all files of a platform but the first. */
      files: z.array(z.strictObject({ anchor: text, artifact })),
    }),
  ),
  files: z.array(z.strictObject({ href, text })),
  /** null: nothing is signed. Words are quoted for a shell. */
  evidence: z
    .strictObject({
      version,
      /** SHA-256 of the root that clients pin. */
      root: text,
      signer: text,
      namespace: text,
      /** Addresses of the site and of the release's folder. */
      site: text,
      release: text,
      files: z.array(z.strictObject({ href, text })),
    })
    .nullable(),
});

const listedRelease = z.strictObject({
  version,
  date,
  href,
  count,
  withdrawn: count,
  provisional: flag,
  summaryHtml: html,
  /** True if its first artifacts are on another page. */
  continued: flag,
  rowsHtml: html,
});

const link = z.strictObject({ href, text });

/** A file that only one of two releases has. */
const changedFile = z.strictObject({ name: text, href, withdrawn: flag });

/** Model of each page template. A page is rendered only with a matching model. */
export const pageModels = {
  release,
  row: z.strictObject({ artifact: row }),
  "install-lines": z.strictObject({ name: text, id, install }),
  home: z.strictObject({
    layout,
    newest: z.strictObject({ version, date, href }).nullable(),
    /** The newest files by system. */
    groups: z.array(
      z.strictObject({
        anchor: text,
        name: text,
        /** Visitors with this operating system see the group first; empty: nobody does. */
        system: text,
        platforms: z.array(link),
        rowsHtml: html,
        installsHtml: html,
      }),
    ),
    months: z.array(link),
    all: href,
    /** Page that compares any two releases. */
    compare: href,
  }),
  month: z.strictObject({
    layout,
    month: line,
    releases: z.array(listedRelease),
    /** Older parts of the month, on the page of its newest part. */
    parts: z.array(link),
    /** Page of the newest part, on all other parts; otherwise empty. */
    newest: href,
    home: href,
    all: href,
  }),
  releases: z.strictObject({
    layout,
    total: count,
    unit: text,
    changes: href,
    search: href,
    years: z.array(
      z.strictObject({
        year: text,
        count,
        unit: text,
        months: z.array(
          z.strictObject({
            month: text,
            count,
            unit: text,
            /** Page with the files of the month. */
            href,
            open: flag,
            /** The newest releases, with all that is known. */
            releases: z.array(listedRelease.omit({ continued: true, rowsHtml: true }).extend({ unit: text })),
            /** Older releases. */
            versions: z.array(z.strictObject({ version, href, withdrawn: count, provisional: flag })),
          }),
        ),
      }),
    ),
  }),
  changes: z.strictObject({
    layout,
    version,
    date,
    href,
    provisional: flag,
    /** null: it is the first release. */
    previous: z.strictObject({ version, href, changes: href }).nullable(),
    added: z.array(changedFile),
    removed: z.array(changedFile),
    /** Number of files that both releases have, apart from the version in their names. */
    same: count,
    unit: text,
    summaryHtml: html,
    notesHtml: html,
    compare: href,
  }),
  compare: z.strictObject({ layout, all: href }),
  reference: z.strictObject({
    layout,
    description: text,
    browse: href,
    openapi: href,
    operations: z.array(
      z.strictObject({
        anchor: text,
        method: text,
        path: text,
        summary: text,
        description: text,
        curl: text,
        /** Link that sends the request; empty if it needs input. */
        example: href,
        parameters: z.array(
          z.strictObject({
            place: text,
            name: text,
            description: text,
            required: flag,
            values: z.array(text),
          }),
        ),
        answers: z.array(z.strictObject({ status: text, description: text })),
      }),
    ),
  }),
  feeds: z.strictObject({
    layout,
    atom: href,
    json: href,
    /** Package repositories of the site, with their addresses. */
    repositories: z.array(z.strictObject({ name: text, use: text, addresses: z.array(href) })),
    platforms: href,
  }),
  latest: z.strictObject({ layout, newest: z.strictObject({ version, href }).nullable(), all: href }),
  platforms: z.strictObject({
    layout,
    platforms: z.array(
      z.strictObject({ href, name: text, newest: version.nullable(), types: z.array(packageType) }),
    ),
  }),
  platform: z.strictObject({
    layout,
    name: text,
    types: z.array(
      z.strictObject({
        type: packageType,
        description: text,
        version,
        date,
        provisional: flag,
        href,
        rowsHtml: html,
        installsHtml: html,
        /** Number of artifacts that only the release's page shows. */
        more: count,
      }),
    ),
  }),
  api: z.strictObject({
    layout,
    root: href,
    list: href,
    /** The displayed month or part of it; empty without releases. */
    month: text,
    /**
     * False for the list's first page, which also answers queries and therefore names no month in its
     * breadcrumb.
     */
    older: flag,
    requestPath: text,
    json: href,
    api: href,
    recordsHtml: html,
    months: z.array(link),
  }),
  search: z.strictObject({
    layout,
    all: href,
    /** Number of digits by which the index splits checksums. */
    digits: text,
  }),
  "not-found": z.strictObject({ layout, home: href, all: href, platforms: href }),
} as const;

export type PageName = keyof typeof pageModels;
export type PageModel<Name extends PageName> = z.infer<(typeof pageModels)[Name]>;
export type ArtifactView = z.infer<typeof artifact>;
export type RowView = z.infer<typeof row>;
export type WithdrawnView = z.infer<typeof withdrawn>;
export type LayoutView = z.infer<typeof layout>;
