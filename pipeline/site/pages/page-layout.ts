import { mediaType } from "../../documents/file-headers.ts";
import { pagePolicy } from "../../documents/pages/content-security-policy.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { joinedFile } from "../output.ts";
import type { LayoutView } from "./models/layout-model.ts";
import type { PageModel, PageName } from "./page-models.ts";
import { assetNames, type Templates } from "./templates.ts";

/** Every page of a site is made from these. */
export interface PageSite {
  config: SiteConfig;
  templates: Templates;
}

export interface PageHead {
  title: string;
  provisional?: readonly string[];
  filtered?: boolean;
  /** Sentence for search engines and link previews; default: made from the title. */
  description?: string;
  script?: "search" | "changes";
  refresh?: string | undefined;
  /** Path to the site's root; default: relative to the page's path. */
  root?: string;
}

const navigation = [
  { path: "releases/", text: "Releases" },
  { path: "platforms/", text: "Platforms" },
  { path: "api/reference/", text: "API" },
  { path: "feeds/", text: "Feeds" },
];

/** Relative path from a page to the site's root, so that links work under any base path. */
export const rootOf = (path: string): string => "../".repeat(path.split("/").length - 1);

export function pageLayout(path: string, head: PageHead, { config, templates }: PageSite): LayoutView {
  const root = head.root ?? rootOf(path);
  const { style, script, icon, ...own } = assetNames(templates);
  return {
    title: head.title,
    description: head.description ?? descriptionOf(head.title, config.product),
    address: `${config.baseUrl}/${path.replace(/index\.html$/, "")}`,
    product: config.product,
    brand: brandView(root, config),
    filtered: head.filtered ?? false,
    refresh: head.refresh ?? "",
    home: root || "./",
    style: root + style,
    script: root + script,
    pageScript: head.script ? root + own[head.script] : "",
    search: `${root}search/`,
    policy: pagePolicy,
    icon: root + (config.brand.favicon?.path ?? icon),
    iconType: mediaType(config.brand.favicon?.path ?? icon),
    atom: `${root}feed.atom`,
    jsonFeed: `${root}feed.json`,
    packages: `${root}api/v1/package/index.json`,
    latest: `${root}api/v1/latest.json`,
    releaseIndex: `${root}api/v1/release/index.json`,
    openapi: `${root}openapi.json`,
    nav: navigation.map(({ path: target, text }) => ({
      href: root + target,
      text,
      // The browsable list is in the same section as the reference.
      current: path.startsWith(target.replace(/(?<=\/).*$/, "")),
    })),
    provisional: [...(head.provisional ?? [])],
  };
}

/** A drawing keeps its ratio at the height of the header's line. */
const logoHeight = 32;

function brandView(root: string, { brand }: SiteConfig): LayoutView["brand"] {
  const { name, logo, home, support, footer } = brand;
  return {
    name,
    logo: logo
      ? {
          href: root + logo.path,
          width: Math.max(1, Math.round((logo.width / logo.height) * logoHeight)),
          height: logoHeight,
        }
      : null,
    home,
    homeHost: home === "" ? "" : new URL(home).hostname,
    support,
    footer,
  };
}

const descriptionOf = (title: string, product: string): string =>
  `${title === "" ? "R" : `${title}: r`}eleases of ${product} with downloads, checksums and notes.`;

/** Renders lazily, when its bytes are requested. */
export const page = <Name extends PageName>(
  path: string,
  name: Name,
  head: PageHead,
  site: PageSite,
  model: (layout: LayoutView) => PageModel<Name>,
): OutputFile => joinedFile(path, () => [site.templates.render(name, model(pageLayout(path, head, site)))]);
