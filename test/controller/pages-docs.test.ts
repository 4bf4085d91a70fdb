import { beforeAll, expect, test } from "vitest";
import { contracts } from "../../controller/server/contracts.ts";
import { bodyExamples } from "../../controller/server/pages/docs-examples.ts";
import { type ControllerOperation, controllerRoutes } from "../../controller/server/routes.ts";
import { type Page, visitor } from "./pages-support.ts";
import { testController } from "./support.ts";

let url: string;
let page: Page;
beforeAll(async () => {
  ({ url } = await testController());
  page = await visitor(url).get("/-net/api/v0/docs");
});

test("everyone can read the page, under the pages' policy, with and without the final slash", async () => {
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self';/);
  expect((await visitor(url).get("/latest/docs/")).text).toBe(page.text);
});

test("the page has every operation with its address and every field that it accepts", () => {
  for (const { path, operations } of controllerRoutes)
    for (const [method, operation] of Object.entries(operations)) {
      const address = `/-net/api/v0${path.replace(":id", "{id}").replace(/\/$/, "")}`;
      const section = sectionOf(operation);
      expect(section).toContain(`<b>${method}</b> ${address}</code>`);
      for (const field of fieldsOf(operation)) expect(section, operation).toContain(`<code>${field}</code>`);
    }
});

function sectionOf(operation: ControllerOperation): string {
  const [, section = ""] = page.text.split(`id="${operation}"`);
  return section.split("</section>")[0] ?? "";
}

function fieldsOf(operation: ControllerOperation): string[] {
  const { query, body } = contracts[operation];
  const shape = body && "shape" in body.schema ? (body.schema.shape as object) : {};
  return [...Object.keys(query?.shape ?? {}), ...Object.keys(shape)];
}

test("every link of the page leads to an anchor on it, or to another page", () => {
  const ids = new Set([...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const links = [...page.text.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter((link) => !ids.has(link))).toEqual([]);
});

test.each(Object.entries(contracts).filter(([, { body }]) => body))(
  "the example of %s fits its contract",
  (operation, { body }) => {
    const example = bodyExamples[operation as ControllerOperation];
    expect(body?.schema.safeParse(example).error).toBeUndefined();
  },
);

test("style, script and icon are cached for good, under names with their hash", async () => {
  const paths = [...page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(paths).toHaveLength(5);
  for (const path of paths) {
    expect(path).toMatch(/^\/assets\/\w+\.[0-9a-f]{8}\.(css|js|svg)$/);
    const { status, headers } = await fetch(url + path);
    expect([status, headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
      "nosniff",
    ]);
  }
});
