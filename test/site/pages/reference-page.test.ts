import { beforeAll, expect, test } from "vitest";
import { artifact, project, release } from "../../support/project.ts";
import { attribute, elements, jsonOf, readTree, type Tree, textOf } from "../../support/tree.ts";
import { elementsOf, wordsOf } from "./factory.ts";

let tree: Tree;

beforeAll(async () => {
  const made = project({
    "releases/catalog.yaml": {
      product: "Example <Product>",
      base_url: "https://downloads.example.com/base",
      require: {},
      feeds: { apt: { suites: { jammy: "22.04" } }, helm: {} },
    },
    ...release("26.08.001", [artifact("client_26.08.001.deb", "deb", "a", { min_os_version: "22.04" })]),
  });
  await made.succeed("build");
  tree = readTree(`${made.folder}/dist`);
});

const page = (path: string) => textOf(tree, path);
const codes = (path: string) =>
  elements(page(path))
    .filter((element) => attribute(element, "data-copy") !== undefined)
    .map((element) => wordsOf(element));

interface Operation {
  summary: string;
  parameters?: { name: string }[];
  responses: Record<string, { description: string }>;
}

test("the reference has each request of openapi.json, with its parameters and answers", () => {
  const { paths } = jsonOf(tree, "openapi.json") as { paths: Record<string, Record<string, Operation>> };
  const sections = elementsOf(page("api/reference/index.html"), "section").map((each) => wordsOf(each));
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      start: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  expect(operations.length).toBeGreaterThan(5);
  expect(sections).toHaveLength(operations.length);
  for (const [index, { start, operation }] of operations.entries()) {
    const words = sections[index] ?? "";
    expect(words).toContain(operation.summary);
    expect(words).toContain(start);
    for (const { name } of operation.parameters ?? []) expect(words, start).toContain(name);
    for (const [status, { description }] of Object.entries(operation.responses)) {
      expect(words, start).toContain(status);
      expect(words, start).toContain(description);
    }
  }
});

test("each request has a line for curl with the site's address, and a key only where one is needed", () => {
  expect(codes("api/reference/index.html")).toEqual([
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/'",
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/package/'",
    "curl -fsSL -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' --data-binary @FILE -X POST 'https://downloads.example.com/base/api/v1/package/'",
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/package/latest/'",
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/package/ID/'",
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/package/ID/download/'",
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/latest.json'",
    "curl -fsSL -H 'Accept: application/json' 'https://downloads.example.com/base/api/v1/versions.json'",
  ]);
});

test("requests without input can be tried from the page", () => {
  const links = elementsOf(page("api/reference/index.html"), "a").flatMap(
    (link) => attribute(link, "href") ?? [],
  );
  expect(links.filter((link) => link.includes("format="))).toEqual([
    "../v1/package/?format=api",
    "../../api/v1/?format=json",
    "../../api/v1/package/?format=json",
    "../../api/v1/latest.json?format=json",
    "../../api/v1/versions.json?format=json",
  ]);
});

test("the page of feeds has the addresses of the news, and the lines that add the repositories that are on", () => {
  expect(codes("feeds/index.html")).toEqual([
    "https://downloads.example.com/base/feed.atom",
    "https://downloads.example.com/base/feed.json",
    "sudo curl -fsSL https://downloads.example.com/base/example-product-jammy.sources -o /etc/apt/sources.list.d/example-product-jammy.sources",
    "helm repo add example-product https://downloads.example.com/base/charts",
  ]);
  expect(page("feeds/index.html")).not.toContain("Incus");
  expect(tree.has("example-product-jammy.sources")).toBe(true);
});
