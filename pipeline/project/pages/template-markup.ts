import { type Token, Tokenizer } from "parse5";
import { placeAt } from "../../../shared/source.ts";
import { drawingAttributes, drawingElements } from "./drawing.ts";

export interface Fault {
  message: string;
  hint: string;
  line: number;
  column: number;
}

const words = (text: string): string[] => text.split(/\s+/);
const lowercase = (names: ReadonlySet<string>): string[] => [...names].map((name) => name.toLowerCase());

/** Without frames, plug-ins, `base`, and elements whose content is read by rules of its own. */
const elements = new Set([
  ...words(`html head title meta link script noscript body header nav main footer section article aside search hgroup h1 h2 h3 h4
    h5 h6 p div span a area map img picture source audio video track figure figcaption ul ol menu li dl dt dd table
    caption colgroup col thead tbody tfoot tr th td form label input button select datalist optgroup option textarea
    fieldset legend output progress meter details summary dialog time data code pre kbd samp var abbr bdi bdo b i em
    strong small s u mark sub sup q blockquote cite dfn ins del br wbr hr address ruby rb rt rtc rp`),
  ...lowercase(drawingElements),
]);

const attributes = new Set([
  ...words(`id class lang dir title hidden tabindex role accesskey translate draggable spellcheck autocapitalize
    autocomplete autofocus enterkeyhint inputmode contenteditable inert popover popovertarget popovertargetaction slot is
    part itemscope itemtype itemprop itemid itemref property charset name content http-equiv media href hreflang rel
    type sizes as integrity crossorigin referrerpolicy fetchpriority blocking defer async nomodule src srcset alt width
    height loading decoding usemap ismap shape coords target download controls loop muted poster preload playsinline
    autoplay kind srclang label default start reversed value span colspan rowspan headers scope abbr action method
    enctype novalidate accept accept-charset for form list min max step minlength maxlength pattern placeholder
    readonly required checked disabled multiple selected size cols rows wrap formaction formmethod formnovalidate low high
    optimum open datetime cite xmlns xmlns:xlink xlink:href xml:space xml:lang`),
  ...lowercase(drawingAttributes),
]);
attributes.delete("style");

/** Replaces each character of an expression in braces, so that it is not read as HTML. */
const filler = "\ue000";
const fillers = new RegExp(filler, "g");
const edges = new RegExp(`^${filler}+|${filler}+$`, "g");

const inlineStyle = {
  message: "styles in a page are forbidden by its Content-Security-Policy",
  hint: "Move them to style.css: relcat templates eject style.css.",
};
const inlineScript = {
  message: "scripts in a page are forbidden by its Content-Security-Policy",
  hint: "Move them to script.js: relcat templates eject script.js.",
};
const ownOnly = {
  message: "pages load nothing from other hosts, and their Content-Security-Policy forbids it",
  hint: "Name pictures under brand: in catalog.yaml, or leave it out.",
};
const split = {
  message: "an expression begins or ends inside a tag, a value or a comment",
  hint: "Write the whole tag, value or comment inside the block, and names of elements and attributes without expressions.",
};
const unquoted = {
  message: "an attribute's value has no quotes",
  hint: 'Write it as name="{{value}}".',
};

export const policy = '<meta http-equiv="Content-Security-Policy" content="{{layout.policy}}">';
const refresh = '<meta http-equiv="refresh" content="0; url={{layout.refresh}}">';

export type Words = Pick<Fault, "message" | "hint">;

/** Elements, attributes and addresses that may not be in a page. The tokenizer reads HTML as browsers do. */
export function markupFaults(text: string): Fault[] {
  const faults: Fault[] = [];
  const html = text.replace(/\{\{[\s\S]*?\}\}+/g, (braces) => braces.replace(/[^\n\r]/g, filler));
  const report = (found: readonly Words[], { startLine: line, startCol: column }: Token.Location) => {
    for (const { message, hint } of found) faults.push({ message, hint, line, column });
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag: (tag) => tag.location && report(tagFaults(tag, tag.location, text, html), tag.location),
      // Where scripts run, a comment does not protect the end of noscript.
      onComment({ data, location }) {
        if (location && (data.includes(filler) || /<\/noscript/i.test(data))) report([split], location);
      },
      onParseError({ code, ...location }) {
        const isHidden = code === "duplicate-attribute" || code.startsWith("eof-in-");
        const isNamed = html[location.startOffset] === filler && code.startsWith("invalid-first-character");
        if (isHidden || isNamed) report([code === "duplicate-attribute" ? twice : split], location);
      },
      ...{ onEndTag: ignore, onDoctype: ignore, onEof: ignore, onCharacter: ignore },
      ...{ onNullCharacter: ignore, onWhitespaceCharacter: ignore },
    },
  );
  tokenizer.write(html, true);
  const escaped = text.indexOf("\\{{");
  if (escaped !== -1) {
    const { line, column } = placeAt({ file: "", text }, escaped);
    faults.push({ ...literal, line, column });
  }
  return faults;
}

const twice = {
  message: "an attribute occurs twice in a tag",
  hint: "Browsers ignore the second one. Put the block inside its value.",
};
const literal = {
  message: "a backslash before braces makes them text, whose markup is not checked",
  hint: "Write braces as &#123;&#123;.",
};

function tagFaults(tag: Token.TagToken, location: Token.Location, text: string, html: string): Words[] {
  const name = tag.tagName.replace(edges, "");
  const raw = text.slice(location.startOffset, location.endOffset);
  if (name === "style") return [inlineStyle];
  const isWhole = name === tag.tagName || raw.startsWith("{{#", name.length + 1);
  if (!isWhole || name.includes(filler) || !isBalanced(raw)) return [split];
  if (!elements.has(name)) return [notAllowed(`<${name}>`)];
  const faults: Words[] = [];
  const content = /^(?:script|title|textarea)$/.test(name)
    ? contentAfter(html, location.endOffset, name)
    : "";
  if (name === "script" && (!tag.attrs.some((each) => each.name === "src") || content.trim() !== ""))
    faults.push(inlineScript);
  else if (content.includes("<")) faults.push(notAllowed(`a tag inside <${name}>`));
  for (const attribute of tag.attrs) {
    const place = (location as Token.LocationWithAttributes).attrs?.[attribute.name];
    const sign = place ? html.slice(place.startOffset, place.endOffset).indexOf("=") : -1;
    const source = place && sign !== -1 ? text.slice(place.startOffset + sign + 1, place.endOffset) : "";
    const found = attributeFault(attribute, name, source.trim(), raw);
    if (found && !faults.includes(found)) faults.push(found);
  }
  return faults;
}

function attributeFault(
  { name: written, value }: Token.Attribute,
  element: string,
  /** The value with its quotes, before expressions are replaced. */
  source: string,
  tag: string,
): Words | undefined {
  const name = written.replace(edges, "");
  if (name === "" && source === "") return undefined;
  if (name === "" || name.includes(filler)) return split;
  if (name.startsWith("on")) return inlineScript;
  if (name === "style") return inlineStyle;
  if (!attributes.has(name) && !/^(?:aria|data)-[\w.-]+$/.test(name))
    return notAllowed(`the attribute ${name}`);
  if (name === "http-equiv" && tag !== policy && tag !== refresh)
    return notAllowed(`<meta http-equiv="${value}">`);
  if (value.includes(filler) && !/^["']/.test(source)) return unquoted;
  if (value.includes("<") || !isBalanced(source)) return split;
  if (/srcset$/.test(name))
    return value
      .split(",")
      .map((each) => addressFault(each, element))
      .find(Boolean);
  return /^(?:href|xlink:href|src|action|formaction|poster|cite)$/.test(name)
    ? addressFault(value, element)
    : undefined;
}

/** Reads an address as browsers do, which ignore control characters in it and take a backslash for a slash. */
function addressFault(value: string, element: string): Words | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers remove them.
  const address = value.replace(/[\u0000-\u0020]/g, "").replaceAll("\\", "/");
  const [, scheme] = /^([^:/?#]*):/.exec(address) ?? [];
  if (scheme !== undefined && !/^(?:https?|mailto)$/i.test(scheme))
    return {
      message: `an address begins with ${scheme.replace(fillers, "…")}:, expected a path, http:, https: or mailto:`,
      hint: "Write the scheme itself into the template, or the whole address as one value.",
    };
  const isForeign = scheme !== undefined || address.startsWith("//");
  return isForeign && element !== "a" && element !== "area" ? ownOnly : undefined;
}

const notAllowed = (what: string): Words => ({
  message: `${what} is not allowed in a page`,
  hint: "Pages have the usual elements of HTML and SVG, and nothing that runs, loads or redirects.",
});

/** False if a block of the template begins or ends in the text, but not both. */
function isBalanced(text: string): boolean {
  let depth = 0;
  for (const [, mark] of text.matchAll(/\{\{\{?~?([#^/]|else)/g)) {
    if (mark === "#" || mark === "^") depth++;
    else if (mark === "/") depth--;
    if (depth < 0 || (mark === "else" && depth === 0)) return false;
  }
  return depth === 0;
}

const contentAfter = (html: string, from: number, name: string): string =>
  html.slice(from).split(new RegExp(`</${name}`, "i"))[0] ?? "";
