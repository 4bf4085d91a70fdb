import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { project } from "../support/project.ts";
import { jsonOf, readTree, textOf } from "../support/tree.ts";

/** Two cut releases of one month, one of a later month, and an open one. @param lines of catalog.yaml */
async function made(lines?: object) {
  const made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      base_url: "https://example.com",
      require: {},
      ...(lines && { lines }),
    },
  });
  const add = (version: string) => {
    const file = { name: `tool_${version}_amd64.deb`, package_type: "deb", sha256: "a".repeat(64), size: 1 };
    const date = `20${version.slice(0, 5).replace(".", "-")}-19`;
    made.write(`releases/${version}/release.yaml`, { version, date });
    made.write(`releases/${version}/manifests/packages.yaml`, { release: version, artifacts: [file] });
  };
  for (const version of ["25.12.001", "26.08.001", "26.08.002"]) {
    add(version);
    await made.succeed(
      "cut",
      version,
      "--now",
      `20${version.slice(0, 5).replace(".", "-")}-19T10:00:00.123456Z`,
    );
  }
  add("26.09.001");
  return made;
}

async function build(of: Awaited<ReturnType<typeof made>>) {
  await of.succeed("build");
  return readTree(join(of.folder, "dist"));
}

test("dates and periods are in lines.json, also in the form of OpenEoX", async () => {
  const lines = {
    default: { security_until: "24 months", until: "3 years" },
    "25.12": { security_until: "2028-02-01", until: "tba" },
  };
  const tree = await build(await made(lines));
  const $schema = "https://docs.oasis-open.org/openeox/eox-core/v1.0/schema/core.json";
  expect(jsonOf(tree, "api/v1/lines.json")).toEqual({
    schema_version: 1,
    product: "Acme",
    lines: [
      {
        ...{ line: "25.12", newest: "25.12.001", security_until: "2028-02-01", until: "tba" },
        openeox: {
          $schema,
          end_of_life: "tba",
          end_of_security_support: "2028-02-01T23:59:59Z",
          last_updated: "2025-12-19T10:00:00.123456Z",
        },
      },
      {
        ...{ line: "26.08", newest: "26.08.002", security_until: "2028-08-31", until: "2029-08-31" },
        openeox: {
          $schema,
          end_of_life: "2029-08-31T23:59:59Z",
          end_of_security_support: "2028-08-31T23:59:59Z",
          last_updated: "2026-08-19T10:00:00.123456Z",
        },
      },
    ],
  });
});

test("home, releases and platforms say until when a release is supported", async () => {
  const tree = await build(await made({ default: { security_until: "24 months", until: "3 years" } }));
  const words = "Security updates until 2028-09-30, supported until 2029-09-30";
  expect(textOf(tree, "index.html")).toContain(`${words}.`);
  for (const path of ["releases/26.09.001/index.html", "platforms/Debian-and-Ubuntu/index.html"])
    expect(textOf(tree, path)).toContain(` · ${words}</p>`);
});

test.each([
  [{ until: "1 month" }, "Supported until 2026-10-31"],
  [{ security_until: "tba", until: "2027-01-01" }, "Supported until 2027-01-01"],
  [{ security_until: "2027-01-01", until: "2027-01-01" }, "Supported until 2027-01-01"],
  [{ security_until: "2027-01-01" }, "Security updates until 2027-01-01, end of support not announced"],
  [{}, "End of support not announced"],
])("a page says of %j: %s", async (ends, words) => {
  const tree = await build(await made({ "26.09": ends }));
  expect(textOf(tree, "releases/26.09.001/index.html")).toContain(` · ${words}</p>`);
  expect(textOf(tree, "releases/26.08.001/index.html")).not.toContain("upport");
});

test("without lines: nothing is said", async () => {
  const tree = await build(await made());
  expect([...tree.keys()].filter((path) => path.includes("lines.json"))).toEqual([]);
  expect(textOf(tree, "index.html")).not.toContain("upport");
});

describe("a wrong end of support", () => {
  test.each([
    [{ "26.13": {} }, "a month such as 26.08 in quotes, or default"],
    [
      { default: { until: "soon" } },
      "expected a date such as 2028-08-31, a period such as 24 months, or tba",
    ],
    [
      { default: { until: "2028-02-30" } },
      "expected a date such as 2028-08-31, a period such as 24 months, or tba",
    ],
    [
      { "26.08": { security_until: "2029-01-01", until: "2028-01-01" } },
      "security updates of 26.08 end on 2029-01-01, after all support on 2028-01-01",
    ],
    [{ default: { security_until: "2 years", until: "23 months" } }, "security updates of default end on"],
  ])("%j", async (lines, message) => {
    const found = project({ "releases/catalog.yaml": { lines } });
    expect(await found.run("check")).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(message) });
  });
});

test("status names the ends of the next 90 days, and those that are over", async () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const found = await made({
    "25.12": { security_until: day(-2), until: day(80) },
    "26.08": { until: day(95) },
  });
  const { stdout } = await found.run("status", "--offline");
  expect(stdout).toContain(`security updates of 25.12 ended on ${day(-2)}`);
  expect(stdout).toMatch(new RegExp(`support of 25\\.12 ends on ${day(80)}, in 8[01] days`));
  expect(stdout).not.toContain("of 26.08");
  const { support_ends: ends } = JSON.parse((await found.run("status", "--offline", "--json")).stdout);
  expect(ends).toMatchObject([
    { line: "25.12", of: "security updates", on: day(-2) },
    { line: "25.12", of: "support", on: day(80) },
  ]);
  const last = await (await made({ "25.12": { until: day(0) } })).run("status", "--offline");
  expect(last.stdout).toContain(`support of 25.12 ends on ${day(0)}, within a day\n`);
});
