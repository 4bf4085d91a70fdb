import { type DefaultTreeAdapterTypes, parse } from "parse5";
import type { Note } from "../../../pipeline/documents/note.ts";
import type { WireRecord } from "../../../pipeline/documents/package-record.ts";
import type {
  OutputFile,
  PublishedPackage,
  PublishedRelease,
  RecordEvent,
  SiteConfig,
} from "../../../pipeline/documents/published.ts";
import type { RetractedRecord } from "../../../pipeline/documents/site.ts";
import { pageModels } from "../../../pipeline/site/pages/page-models.ts";
import { compileTemplates, type Templates } from "../../../pipeline/site/pages/templates.ts";
import { readTemplates } from "../../../pipeline/site/stores/templates.ts";
import { defaultPackageTypes, defaultPlatforms } from "../../../shared/package-types.ts";

/** Text that attempts to break out of every context. */
export const hostile = `]]><script>alert(1)</script>"'&amp; {{x}} \u0000\u001b[31m\u202Eשלום\u202C 😀 </title>`;

export const templateSources = await readTemplates();
const compiled = compileTemplates(templateSources);
/** relcat's templates. Each page gets exactly its model. */
export const templates: Templates = {
  ...compiled,
  render(page, model) {
    pageModels[page].parse(model);
    return compiled.render(page, model);
  },
};

/** No member of `brand:` is written. */
const brand: SiteConfig["brand"] = {
  name: "Example Controller",
  accent: undefined,
  home: "",
  support: "",
  footer: "",
  files: { logo: "", favicon: "" },
  logo: undefined,
  favicon: undefined,
};

export const configOf = (changes: Partial<SiteConfig> = {}): SiteConfig => ({
  product: "Example Controller",
  brand,
  templates: [],
  baseUrl: "https://downloads.example.com/base",
  authority: "example.com",
  platforms: new Map(Object.entries(defaultPlatforms).map(([id, name]) => [Number(id), name])),
  packageTypes: new Map(Object.entries(defaultPackageTypes)),
  components: new Map([
    ["server", "Server"],
    ["documentation", "Documentation"],
    ["meta_control_plane", "Meta Control Plane"],
  ]),
  kinds: new Map([
    ["fix", "Fixes"],
    ["feature", "Features"],
  ]),
  wire: { vendor: "vendor", cryptolib_post: "cryptolib_post" },
  channels: [],
  refs: new Map(),
  security: undefined,
  lines: {},
  feeds: {},
  feedKeys: [],
  rpmSigners: [],
  trust: {
    profile: "none",
    validDays: 30,
    online: { env: "KEY" },
    openpgp: [],
    packslip: { env: "KEY" },
    folder: ".",
    rootDigest: "",
  },
  builder: undefined,
  ...changes,
});

export const noteOf = (text: string, changes: Partial<Note> = {}): Note => ({
  component: "server",
  kind: "fix",
  text,
  refs: [],
  security: false,
  ...changes,
});

type PackageChanges = Partial<WireRecord> & { file?: string; url?: string; size?: number | null };

export function packageOf(id: number, changes: PackageChanges = {}): PublishedPackage {
  const { file, url, size = 1536, ...fields } = changes;
  const name = fields.name ?? `controller-${id}.qcow2.gz`;
  const record: WireRecord = {
    id,
    name,
    version: "26.08.002",
    description: "Controller image for KVM",
    checksum: id.toString(16).padStart(64, "0"),
    operating_system: "Linux",
    min_os_version: null,
    max_os_version: null,
    package_type: "qcow",
    created_date: "2026-08-19T10:22:31.123456Z",
    modified_date: "2026-08-20T11:00:00.000000Z",
    data: {},
    exclude_from_api: false,
    gui_only: false,
    headless: false,
    platform: 11,
    only_for_account: null,
    ...fields,
  };
  const target = url ?? `https://files.example.com/${record.version}/${encodeURIComponent(file ?? name)}`;
  return { record, json: JSON.stringify(record), file: file ?? name, url: target, size };
}

export const retractedOf = (id: number, changes: Partial<RetractedRecord> = {}): RetractedRecord => ({
  id,
  name: `controller-${id}.qcow2.gz`,
  file: `controller-${id}.qcow2.gz`,
  package_type: "qcow",
  checksum: "f".repeat(64),
  reason: "Loses its settings",
  replaced_by: null,
  at: "2026-09-01T08:00:00.500000Z",
  ...changes,
});

const historyOf = ({ created_date, modified_date }: WireRecord): RecordEvent[] => [
  { kind: "added", at: created_date, reason: "" },
  ...(modified_date === created_date ? [] : [{ kind: "revised" as const, at: modified_date, reason: "" }]),
];

/** A release; its packages take its version. */
export function releaseOf(version: string, changes: Partial<PublishedRelease> = {}): PublishedRelease {
  const { packages = [], retracted = [], ...rest } = changes;
  return {
    version,
    date: "2026-08-19",
    summary: null,
    notes: [],
    provisional: false,
    retracted,
    replacements: new Map(),
    histories: new Map(packages.map(({ record }) => [record.id, historyOf(record)])),
    ...rest,
    packages: packages.map((entry) => {
      const record = { ...entry.record, version };
      return { ...entry, record, json: JSON.stringify(record) };
    }),
  };
}

export const textOf = (file: OutputFile | undefined): string =>
  Buffer.concat([...(file?.chunks ?? [])]).toString("utf8");

export type Element = DefaultTreeAdapterTypes.Element;

/** The elements of a page with the tag, or all, parsed as in a browser. */
export function elementsOf(html: string, tag?: string): Element[] {
  const found: Element[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node) => {
    if ("tagName" in node && (tag === undefined || node.tagName === tag)) found.push(node);
    if ("childNodes" in node) node.childNodes.forEach(visit);
  };
  visit(parse(html));
  return found;
}

export function wordsOf(node: DefaultTreeAdapterTypes.Node): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(wordsOf).join("") : "";
}

export const attributeOf = (element: Element, name: string): string | undefined =>
  element.attrs.find((attr) => attr.name === name)?.value;

export const linksOf = (html: string): string[] =>
  elementsOf(html, "a").map((element) => attributeOf(element, "href") ?? "");

/** The element with that id and all below it. */
export function sectionOf(html: string, id: string): Element {
  const found = elementsOf(html).find((element) => attributeOf(element, "id") === id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/** Dangerous content of a page; empty if there is none. */
export function dangers(html: string): string[] {
  const found: string[] = [];
  for (const element of elementsOf(html)) {
    const { tagName, attrs } = element;
    if (["img", "iframe", "object", "embed", "style", "base", "svg", "math"].includes(tagName))
      found.push(tagName);
    if (tagName === "script" && wordsOf(element) !== "") found.push("inline script");
    for (const { name, value } of attrs) {
      if (name.startsWith("on") || name === "style" || name === "srcset") found.push(`${tagName} ${name}`);
      const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(value)?.[1]?.toLowerCase();
      const allowed = scheme === undefined || ["http", "https", "mailto"].includes(scheme);
      if (["href", "src", "action"].includes(name) && !allowed) found.push(`${tagName} ${name}=${value}`);
    }
  }
  if (/[^\P{Cc}\t\n]/u.test(html)) found.push("control character");
  return found;
}
