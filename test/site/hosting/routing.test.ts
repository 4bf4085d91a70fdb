import fc from "fast-check";
import { expect, test } from "vitest";
import { readListQuery } from "../../../pipeline/selection/query.ts";
import { indexRecords, type Row } from "../../../pipeline/selection/record-index.ts";
import { chooseLatest, select } from "../../../pipeline/selection/select.ts";
import { facetFiles, facetKeys } from "../../../pipeline/site/facets.ts";
import { type Routing, routingOf, wholeList } from "../../../pipeline/site/hosting/routing.ts";
import type { Rule } from "../../../pipeline/site/hosting/rules.ts";
import { packageOf } from "../pages/factory.ts";
import { idsOf } from "./catalog.ts";

const systems = ["linux", "Linux", "windows"];
const types = ["deb", "rpm", "qcow"];
const bounds = ["20.04", "22.04", "A", "10 a+b"];

const row = fc.record({
  // Mostly the values of the type; imported records may have others.
  package_type: fc.constantFrom(...types),
  other: fc.boolean(),
  min_os_version: fc.constantFrom(null, ...bounds),
  max_os_version: fc.constantFrom(null, ...bounds),
  gui_only: fc.boolean(),
  headless: fc.boolean(),
});

const asked = (...values: string[]) =>
  fc.option(fc.constantFrom(...values, "", "null", "none"), { nil: undefined });
const question = fc.record({
  operating_system: asked(...systems),
  package_type: asked(...types),
  min_os_version: asked(...bounds),
  max_os_version: asked(...bounds),
  gui_only: asked("true", "0"),
  headless: asked("1", "false"),
});

const catalog = fc.array(row, { minLength: 1, maxLength: 25 }).map((drawn) =>
  drawn.map(({ other, ...fields }, index) => {
    const system = systems[types.indexOf(fields.package_type)] ?? "linux";
    return packageOf(index + 1, { ...fields, operating_system: other ? "windows" : system });
  }),
);

const first = (rules: readonly Rule[], text: string, otherwise = "") =>
  rules.find(([pattern]) => new RegExp(pattern).test(text))?.[1] ?? otherwise;

/** Two encodings of a value: with %20, and as forms and most libraries write it, with a plus for a space. */
const spellings = [
  encodeURIComponent,
  (value: string) => new URLSearchParams({ value }).toString().slice("value=".length),
];

/** The lookup that every host does in the tables. */
function throughTables(
  routing: Routing,
  query: Readonly<Record<string, string | undefined>>,
  spelled: (value: string) => string,
) {
  const name = (value: keyof Routing["values"], parameter: string) => {
    const raw = query[parameter];
    return first(routing.values[value], raw === undefined ? "&" : spelled(raw), "-");
  };
  const flag = (parameter: string) => {
    const value = query[parameter];
    if (value === undefined) return "";
    return ["1", "true"].includes(value) ? "true" : ["0", "false"].includes(value) ? "false" : "-";
  };
  const which = `${name("system", "operating_system")}|${name("type", "package_type")}`;
  const scope = routing.scopes.get(which) ?? first(routing.otherScopes, which);
  const list = `${scope}|${name("min", "min_os_version")}|${name("max", "max_os_version")}`;
  const latest = `${list}|${flag("gui_only")}|${flag("headless")}`;
  return {
    list: routing.lists.get(list) ?? first(routing.otherLists, list),
    latest: routing.latest.get(latest) ?? first(routing.otherLatest, latest),
  };
}

test("prepared answers are equal to those of the handler", () => {
  fc.assert(
    fc.property(catalog, fc.array(question, { minLength: 20, maxLength: 20 }), (packages, questions) => {
      const rows: Row[] = packages.map(({ record }) => ({ ...record }));
      const index = indexRecords(rows);
      const keys = facetKeys(rows);
      const routing = routingOf({
        baseUrl: "https://example.com",
        packages: packages.map(({ record: { data: _, ...fields }, ...rest }) => ({
          ...rest,
          record: fields,
          row: fields,
        })),
        retracted: [],
        rows,
        index,
        keys,
      });
      const records = packages.map(({ json }) => json);
      const files = new Map(
        [...facetFiles(keys, index, records)].map(({ path, chunks }) => [path, Buffer.concat([...chunks])]),
      );
      files.set(wholeList, Buffer.from(JSON.stringify(rows)));
      for (const [number, each] of questions.entries()) {
        const { gui_only: _, headless: __, ...filters } = each;
        const answer = throughTables(routing, each, spellings[number % 2] ?? encodeURIComponent);
        const selected = select(index, readListQuery(parameters(filters))).map(
          (position) => rows[position]?.id,
        );
        if (answer.list !== "unready")
          expect(idsOf(files.get(answer.list) ?? Buffer.of()), JSON.stringify(each)).toEqual(selected);
        if (each.package_type === undefined || answer.latest === "501") continue;
        const choice = chooseLatest(index, readListQuery(parameters(each)));
        const wanted = { none: "404", one: "302", many: "400" }[choice.kind];
        expect(answer.latest.slice(0, 3), JSON.stringify(each)).toBe(wanted);
        if (choice.kind === "one") expect(answer.latest.slice(4)).toBe(packages[choice.position]?.url);
      }
    }),
  );
});

const parameters = (fields: Readonly<Record<string, string | undefined>>) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
