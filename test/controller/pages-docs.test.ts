import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { contracts } from "../../controller/server/contracts.ts";
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
      const address = `/-net/api/v0${path.replace(":id", "{id}")}`;
      const section = sectionOf(operation);
      expect(section).toContain(`<code>${method} ${address}</code>`);
      for (const field of fieldsOf(operation)) expect(section, operation).toContain(`<code>${field}</code>`);
    }
});

function sectionOf(operation: ControllerOperation): string {
  const [, section = ""] = page.text.split(`id="${operation}"`);
  return section.split("</section>")[0] ?? "";
}

const plainText = (html: string): string =>
  html.replaceAll("&#x27;", "'").replaceAll("&#x3D;", "=").replaceAll("&quot;", '"');
const wordsIn = (html: string): string => plainText(html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " "));

function fieldsOf(operation: ControllerOperation): string[] {
  const { query, body } = contracts[operation];
  const shape = body && "shape" in body.schema ? (body.schema.shape as object) : {};
  return [...Object.keys(query?.shape ?? {}), ...Object.keys(shape)];
}

test("every link of the page leads to an anchor on it, or to another page", () => {
  const ids = new Set([...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const links = [...page.text.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.length).toBeGreaterThan(60);
  expect(links.filter((link) => !ids.has(link))).toEqual([]);
});

test("the page says who may send a request, what the audit log records, and which problems it can have", () => {
  const section = wordsIn(sectionOf("changeApiKey"));
  expect(section).toContain(
    "For users' tokens and users who are signed in, with the scope api_keys:write. Recorded in the audit log as key.updated.",
  );
  expect(section).toContain("403 The credentials do not allow it, or HTTPS is required. Problems: ");
  expect(section).toContain("404 Not found. Problems: not-found.");
  expect(section).toContain("200 The key. ApiKey");
  expect(wordsIn(sectionOf("login"))).toContain(
    "Needs no credentials. Recorded in the audit log as session.opened, auth.failed. One of email and email_or_username.",
  );
});

test("the fields of each answer are described once", () => {
  const [, documents = ""] = page.text.split('id="documents"');
  expect(wordsIn(documents)).toContain(
    "last_used_at date and time or null Time of the last use, to the minute.",
  );
  expect(documents).toContain('<code>api_keys</code></th><td><a href="#document-ApiKey">ApiKey</a>');
  for (const { success } of Object.values(contracts)) {
    const name = success.schema && z.globalRegistry.get(success.schema)?.id;
    if (name) expect(documents.split(`id="document-${name}"`), name).toHaveLength(2);
  }
});

test("lines for curl have the credentials that an operation takes, and an example of its body", () => {
  const curl = (operation: ControllerOperation) =>
    plainText(/data-copy="[^"]+">([^<]+)</.exec(sectionOf(operation))?.[1] ?? "");
  const at = "https://CONTROLLER/-net/api/v0";
  const json = "-H 'Content-Type: application/json'";
  expect(curl("readDevice")).toBe(
    `curl -fsSL -u 'KEY_ID:KEY' -H 'Accept: application/json' '${at}/device/ID/'`,
  );
  expect(curl("changeDevice")).toBe(
    `curl -fsSL -u 'KEY_ID:KEY' ${json} -d '{"name":"berlin-laptop-007"}' -X POST '${at}/device/ID/'`,
  );
  expect(curl("createToken")).toContain(
    `curl -fsSL -b 'relcat-session=SESSION' -H 'Origin: https://CONTROLLER' ${json} -d '{"name":`,
  );
  expect(curl("makeNonce")).toBe(`curl -fsSL -H 'Accept: application/json' '${at}/device/enroll/'`);
  expect(curl("streamEvents")).toContain("curl -fsSL -N -u 'KEY_ID:KEY'");
});

test.each(Object.entries(contracts).filter(([, { body }]) => body))(
  "the example of %s fits its contract",
  (_, { body }) => {
    expect(body?.schema.safeParse(body.example).error).toBeUndefined();
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
