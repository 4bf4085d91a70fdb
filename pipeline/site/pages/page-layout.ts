import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { joinedFile } from "../output.ts";
import { assetNames } from "./assets.ts";
import type { LayoutView, PageModel, PageName } from "./page-models.ts";
import type { Templates } from "./templates.ts";

/** What a page says about itself. */
export interface PageHead {
  title: string;
  /** Versions on it that are not permanent yet. */
  provisional?: readonly string[];
  filtered?: boolean;
  /** Where the page leads at once. */
  refresh?: string | undefined;
  /** Where the site's root is; default: relative to the page's path. */
  root?: string;
}

const navigation = [
  { path: "releases/", text: "Releases" },
  { path: "platforms/", text: "Platforms" },
  { path: "api/v1/package/", text: "API" },
  { path: "feed.atom", text: "Feed" },
];

/** The path from a page to the site's root: links work under any base path. */
export const rootOf = (path: string): string => "../".repeat(path.split("/").length - 1);

/** What is around a page's content: head, header, banner and footer. */
export function pageLayout(
  path: string,
  head: PageHead,
  config: SiteConfig,
  templates: Templates,
): LayoutView {
  const root = head.root ?? rootOf(path);
  const { style, script, icon } = assetNames(templates);
  return {
    title: head.title,
    product: config.product,
    filtered: head.filtered ?? false,
    refresh: head.refresh ?? "",
    home: root || "./",
    style: root + style,
    script: root + script,
    icon: root + icon,
    atom: `${root}feed.atom`,
    jsonFeed: `${root}feed.json`,
    packages: `${root}api/v1/package/index.json`,
    latest: `${root}api/v1/latest.json`,
    releaseIndex: `${root}api/v1/release/index.json`,
    openapi: `${root}openapi.json`,
    nav: navigation.map(({ path: target, text }) => ({
      href: root + linked(target),
      text,
      current: path.startsWith(target),
    })),
    provisional: [...(head.provisional ?? [])],
  };
}

/** Browsers get the page by name: what is negotiated by Accept may not be cached. */
const linked = (target: string): string => (target === "api/v1/package/" ? `${target}?format=api` : target);

/** A page that is rendered when its bytes are asked for. */
export const page = <Name extends PageName>(
  path: string,
  name: Name,
  templates: Templates,
  model: () => PageModel<Name>,
): OutputFile => joinedFile(path, () => [templates.render(name, model())]);
