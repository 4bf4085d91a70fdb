import type { SaxesParser } from "saxes";
import { malformed } from "../verdict.ts";

/** Below the root. */
const maxNestingDepth = 64;

/**
 * Refuses documents in which other readers could find other elements: those that are not well-formed, have another
 * encoding, or have a document type, which could declare entities.
 * @param roots allowed names of the root element
 * @param isPlain refuses markup that some readers of the format ignore or name differently
 * @throws Fault malformed
 */
export async function readXml(
  text: string,
  roots: readonly string[],
  what: string,
  { isPlain = false } = {},
): Promise<XmlElement> {
  const { SaxesParser } = await import("saxes");
  const parser = new SaxesParser();
  parser.on("error", ({ message }) => {
    throw malformed(`${what} is not XML: ${message.replace(/\.$/, "")}`);
  });
  // The parser's own object inherits from Object.prototype, whose members would be entities.
  parser.ENTITIES = Object.assign(Object.create(null), predefined);
  const document = treeOf(parser, what);
  refuseProlog(parser, what);
  if (isPlain) refuseMarkup(parser, what);
  parser.write(text).close();
  const [found] = roots.flatMap((root) => document.all(root));
  if (!found) throw malformed(`${what} has no element ${roots.join(" or ")}`);
  return found;
}

const predefined = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** An XML element, with names as written. References are replaced. */
export class XmlElement {
  /** Without the text of its children, and without spaces around it. */
  text = "";
  readonly children: XmlElement[] = [];
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.name = name;
    this.attributes = attributes;
  }

  all(name: string): readonly XmlElement[] {
    return this.children.filter((child) => child.name === name);
  }

  first(name: string): XmlElement | undefined {
    return this.children.find((child) => child.name === name);
  }
}

/** @returns the parent of the root, complete once the parser is closed */
function treeOf(parser: SaxesParser, what: string): XmlElement {
  const document = new XmlElement("", {});
  const above: XmlElement[] = [];
  let element = document;
  const add = (part: string) => {
    element.text += part;
  };
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("opentag", ({ name, attributes }) => {
    if (above.length > maxNestingDepth)
      throw malformed(`${what} is not XML: its elements are nested deeper than ${maxNestingDepth}`);
    // The parser's own object takes three times the memory.
    const child = new XmlElement(name, { ...attributes });
    element.children.push(child);
    above.push(element);
    element = child;
  });
  parser.on("closetag", () => {
    element.text = element.text.trim();
    element = above.pop() ?? document;
  });
  return document;
}

function refuseProlog(parser: SaxesParser, what: string): void {
  parser.on("xmldecl", ({ version, encoding = "UTF-8" }) => {
    if (version !== "1.0" || !/^(?:utf-8|us-ascii)$/i.test(encoding))
      throw malformed(`${what} is XML ${version} in ${encoding}, expected XML 1.0 in UTF-8`);
  });
  parser.on("doctype", () => {
    throw malformed(`${what} has a document type, expected none`);
  });
}

function refuseMarkup(parser: SaxesParser, what: string): void {
  const refuse = (found: string) => {
    throw malformed(`${what} has ${found}, expected only elements and text`);
  };
  parser.on("comment", () => refuse("a comment"));
  parser.on("processinginstruction", ({ target }) => refuse(`the processing instruction ${target}`));
  parser.on("cdata", () => refuse("a CDATA section"));
  const refusePrefix = ({ name }: { name: string }) => {
    if (name.includes(":")) refuse(`the prefix of ${name}`);
  };
  parser.on("opentagstart", refusePrefix);
  parser.on("attribute", refusePrefix);
}
