import fc from "fast-check";
import { expect, test } from "vitest";
import { type Releases, releases } from "../support/catalog.ts";
import { often } from "../support/effort.ts";
import { linesOf } from "./history.ts";

/** Expected state of one artifact. */
interface Known {
  version: string;
  file: string;
  description: string;
  /** undefined: not cut. */
  id?: number;
  cutDescription?: string;
  retracted?: { reason: string; replaced_by: number | null };
}

/** A catalog as a table. */
interface Model {
  artifacts: Known[];
  nextId: number;
  /** Versions in the order of their first lines; ids that events after those name. */
  touched: { version: string; first: number }[];
  lines: number;
}

interface Real {
  catalog: Releases;
  ledger: string;
}

const hash = (text: string) => [...text].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 9, 0) + 1;

function write({ catalog }: Real, { artifacts }: Model): void {
  for (const version of new Set(artifacts.map((each) => each.version))) {
    const own = artifacts.filter((each) => each.version === version);
    catalog.write({
      [`${version}/release.yaml`]: { version, date: "2026-08-19" },
      [`${version}/manifests/all.json`]: {
        release: version,
        artifacts: own.map(({ file, description }) => ({
          name: file,
          package_type: "rpm",
          sha256: String(hash(file)).repeat(64),
          description,
        })),
      },
    });
  }
}

const ordered = (artifacts: readonly Known[]) =>
  artifacts.toSorted((a, b) => (`${a.version} ${a.file}` < `${b.version} ${b.file}` ? -1 : 1));

/** Compares the catalog and its ledger with the table after every step. */
async function compare(model: Model, real: Real, grows = true): Promise<void> {
  const { problems, ledger, identified } = await real.catalog.load();
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(grows ? ledger.text().startsWith(real.ledger) : real.ledger.startsWith(ledger.text())).toBe(true);
  real.ledger = ledger.text();
  expect(linesOf(ledger.text()).filter((line) => line !== "")).toHaveLength(model.lines);
  const ids = [...ledger.byId.values()].map(({ add }) => add.id);
  expect(ids).toEqual(Array.from({ length: model.nextId - 1 }, (_, index) => index + 1));
  const packages = identified.releases.flatMap((release) => release.packages);
  expect(packages).toHaveLength(model.artifacts.length);
  for (const { artifact, id, ledgerState: standing, retraction, created, modified } of packages) {
    const known = model.artifacts.find(
      ({ version, file }) => version === artifact.content.version && file === artifact.file,
    );
    if (known?.id === undefined) expect(standing).toBe("new");
    else {
      expect(id).toBe(known.id);
      const frozen = known.retracted !== undefined;
      expect(standing).toBe(known.cutDescription === known.description || frozen ? "cut" : "revised");
      expect(retraction && { reason: retraction.reason, replaced_by: retraction.replaced_by }).toEqual(
        known.retracted ?? null,
      );
    }
    expect(created <= modified).toBe(true);
  }
}

type Command = fc.AsyncCommand<Model, Real>;
const command = (
  name: string,
  check: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<boolean>,
): Command => ({
  check,
  toString: () => name,
  run: async (model, real) => {
    const grows = await run(model, real);
    await compare(model, real, grows);
  },
});

const add = (version: string, file: string) =>
  command(
    `add ${version}/${file}`,
    (model) => !model.artifacts.some((each) => each.version === version && each.file === file),
    async (model, real) => {
      model.artifacts.push({ version, file, description: "One" });
      write(real, model);
      return true;
    },
  );

const describe = (index: number, description: string) =>
  command(
    `describe ${index} ${description}`,
    (model) => model.artifacts.length > 0,
    async (model, real) => {
      const chosen = model.artifacts[index % model.artifacts.length];
      if (chosen) chosen.description = description;
      write(real, model);
      return true;
    },
  );

const cut = (version: string | undefined) =>
  command(
    `cut ${version ?? ""}`,
    (model) => model.artifacts.some((each) => version === undefined || each.version === version),
    async (model, real) => {
      await real.catalog.cut(version === undefined ? {} : { versions: [version] });
      const due = ordered(model.artifacts).filter(
        (each) => version === undefined || each.version === version,
      );
      for (const each of due.filter(({ id }) => id === undefined)) {
        if (!model.touched.some((other) => other.version === each.version)) {
          model.touched.push({ version: each.version, first: model.lines });
        }
        Object.assign(each, { id: model.nextId++, cutDescription: each.description });
        model.lines++;
      }
      for (const each of due.filter(
        (other) => !other.retracted && other.cutDescription !== other.description,
      )) {
        each.cutDescription = each.description;
        model.lines++;
      }
      return true;
    },
  );

const cutOnes = (model: Model, retracted: boolean) =>
  model.artifacts.filter((each) => each.id !== undefined && (each.retracted !== undefined) === retracted);

const retract = (index: number, reason: string, replaced: boolean) =>
  command(
    `retract ${index} ${reason}`,
    (model) => cutOnes(model, false).length > 1,
    async (model, real) => {
      const candidates = cutOnes(model, false);
      const [chosen, other] = [
        candidates[index % candidates.length],
        candidates[(index + 1) % candidates.length],
      ];
      if (chosen?.id === undefined || other?.id === undefined) throw new Error("two are there");
      const replacedBy = replaced ? other.id : null;
      await real.catalog.retract({ ids: [chosen.id], reason, replacedBy });
      chosen.retracted = { reason, replaced_by: replacedBy };
      model.lines++;
      return true;
    },
  );

const reinstate = (index: number) =>
  command(
    `reinstate ${index}`,
    (model) => cutOnes(model, true).length > 0,
    async (model, real) => {
      const candidates = cutOnes(model, true);
      const chosen = candidates[index % candidates.length];
      if (chosen?.id === undefined) throw new Error("one is there");
      await real.catalog.reinstate([chosen.id]);
      delete chosen.retracted;
      model.lines++;
      return true;
    },
  );

/** Takes the last version back if no line of other versions follows its first line. */
const uncut = () =>
  command(
    "uncut",
    (model) => model.touched.length > 0,
    async (model, real) => {
      const last = model.touched.at(-1);
      const lines = linesOf(real.ledger).slice(last?.first);
      const own = new Set(cutIds(model, last?.version));
      if (!last || !lines.every((line) => line === "" || own.has(JSON.parse(line).id))) {
        await expect(real.catalog.uncut(last?.version ?? "")).rejects.toThrow("version-not-last");
        return true;
      }
      await real.catalog.uncut(last.version);
      for (const each of model.artifacts.filter(({ version }) => version === last.version)) {
        delete each.id;
        delete each.cutDescription;
        delete each.retracted;
      }
      model.lines = last.first;
      model.touched.pop();
      model.nextId = Math.max(0, ...cutIds(model)) + 1;
      return false;
    },
  );

const cutIds = (model: Model, version?: string) =>
  model.artifacts.flatMap((each) =>
    each.id !== undefined && (!version || each.version === version) ? [each.id] : [],
  );

const versions = fc.constantFrom("26.08.001", "26.08.002", "26.09.001");
const commands = fc.commands(
  [
    fc.tuple(versions, fc.constantFrom("a", "b", "c", "d")).map(([version, file]) => add(version, file)),
    fc.tuple(versions, fc.constantFrom("e", "f", "g", "h")).map(([version, file]) => add(version, file)),
    fc.tuple(fc.nat(), fc.constantFrom("One", "Two", "Three")).map(([index, text]) => describe(index, text)),
    fc.option(versions, { nil: undefined }).map(cut),
    fc.constant(undefined).map(cut),
    fc.tuple(fc.nat(), fc.constantFrom("Broken.", "Wrong."), fc.boolean()).map((each) => retract(...each)),
    fc.nat().map(reinstate),
    fc.constant(undefined).map(uncut),
  ],
  { maxCommands: 40, size: "max" },
);

test("the ledger agrees with a simple table after any sequence of commands", async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const setup = () => ({
        model: { artifacts: [], nextId: 1, touched: [], lines: 0 } satisfies Model,
        real: { catalog: releases({ "catalog.yaml": { require: {} } }), ledger: "" },
      });
      await fc.asyncModelRun(setup, sequence);
    }),
    { numRuns: often(25, 6) },
  );
});
