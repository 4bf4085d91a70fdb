import { malformed } from "../inspection.ts";

/** An element of XML, without order between elements of different names. */
export interface XmlElement {
  text: string;
  attributes: Readonly<Record<string, string>>;
  /** The elements of this name. */
  all(name: string): readonly XmlElement[];
  /** The first of this name. */
  first(name: string): XmlElement | undefined;
}

/** As the parser gives it: with lists for all elements, and attributes apart. */
interface Parsed {
  "#text"?: string;
  "@"?: Record<string, string>;
  [name: string]: unknown;
}

const deepest = 64;

/**
 * Reads XML in which entities stay as they are; a document type, which could declare some, is refused.
 * @param what it is, for messages
 * @param roots what its root element may be called
 * @throws Fault malformed
 */
export async function readXml(text: string, roots: readonly string[], what: string): Promise<XmlElement> {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw malformed(`${what} has a document type, expected none`);
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    processEntities: false,
    ignoreAttributes: false,
    attributesGroupName: "@",
    attributeNamePrefix: "",
    alwaysCreateTextNode: true,
    parseTagValue: false,
    parseAttributeValue: false,
    maxNestedTags: deepest,
    isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  });
  const document = element(parsed(() => parser.parse(text, true) as Parsed, what));
  const [found] = roots.flatMap((root) => document.all(root));
  if (!found) throw malformed(`${what} has no element ${roots.join(" or ")}`);
  return found;
}

function parsed<T>(parse: () => T, what: string): T {
  try {
    return parse();
  } catch (error) {
    throw malformed(`${what} is no XML: ${(error as Error).message}`);
  }
}

function element(node: Parsed): XmlElement {
  const all = (name: string) => {
    const found = Object.hasOwn(node, name) ? node[name] : [];
    return Array.isArray(found) ? (found as Parsed[]).map(element) : [];
  };
  return {
    text: typeof node["#text"] === "string" ? node["#text"] : "",
    attributes: node["@"] ?? {},
    all,
    first: (name) => all(name)[0],
  };
}
