import fc from "fast-check";
import { expect, test } from "vitest";
import { inAllocationOrder, mergeArtifacts } from "../../pipeline/records/merge.ts";
import { type Artifact, contentOf, hashContent } from "../../pipeline/records/normalize.ts";
import { plainRelease, releases } from "../support/catalog.ts";
import { often } from "../support/effort.ts";
import { artifact, artifacts, catalogOf, cutInMemory, releaseOf, versions } from "./in-memory.ts";

const facts = (merged: readonly Artifact[]) => merged.map(({ place: _, ...rest }) => rest);
const claimsOf = (written: Parameters<typeof releaseOf>[1]) =>
  written.flatMap((each) => releaseOf("26.08.001", [each]).release.artifacts);

test("merging manifests is commutative, with and without conflicts", () => {
  fc.assert(
    fc.property(fc.array(artifact, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (written, order) => {
      const claims = claimsOf(written.map((each) => [each]));
      const shuffled = claims
        .map((claim) => ({ claim, key: order.next().value ?? 0 }))
        .sort((a, b) => a.key - b.key)
        .map(({ claim }) => claim);
      const [one, other] = [mergeArtifacts(claims), mergeArtifacts(shuffled)];
      expect(facts(other.artifacts)).toEqual(facts(one.artifacts));
      expect(other.problems.map(({ code }) => code)).toEqual(one.problems.map(({ code }) => code));
    }),
  );
});

test("merging manifests is associative and idempotent", () => {
  fc.assert(
    fc.property(artifacts, fc.nat(), fc.nat(), (written, x, y) => {
      const claims = claimsOf(written.map((each) => [each]));
      const [from, to] = [x % (claims.length + 1), y % (claims.length + 1)].sort((a, b) => a - b);
      const [a, b, c] = [claims.slice(0, from), claims.slice(from, to), claims.slice(to)];
      const merge = (left: readonly Artifact[], right: readonly Artifact[]) =>
        mergeArtifacts([...left, ...right]).artifacts;
      const whole = facts(merge(claims, []));
      expect(facts(merge(merge(a, b), c))).toEqual(whole);
      expect(facts(merge(a, merge(b, c)))).toEqual(whole);
      expect(facts(merge(claims, claims))).toEqual(whole);
      expect(
        mergeArtifacts([...claims, ...claims]).problems.filter(({ code }) => code === "artifact-conflict"),
      ).toEqual([]);
    }),
  );
});

test("the allocation order is total: only equal claims are unordered", () => {
  fc.assert(
    fc.property(artifact, artifact, (one, other) => {
      const [a, b] = claimsOf([[one], [other]]);
      if (!a || !b) throw new Error("two artifacts have two claims");
      const order = inAllocationOrder(a, b);
      expect(Math.sign(inAllocationOrder(b, a))).toBe(0 - Math.sign(order));
      expect(order === 0).toBe(JSON.stringify(facts([a])) === JSON.stringify(facts([b])));
    }),
  );
});

/** One step: artifacts are added to a release, and all versions or one are cut. */
const step = fc.record({
  version: fc.constantFrom(...versions),
  added: artifacts,
  description: fc.option(fc.constantFrom("One", "Two", "Three")),
  cut: fc.constantFrom("all", "this", "none"),
});

test("ids are unique, permanent and ascending, and a cut assigns the provisional ids", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 10 }),
      fc.infiniteStream(fc.boolean()),
      (steps, coin) => {
        const catalog = new Map<string, Map<string, (typeof steps)[number]["added"][number]>>();
        let ledger = "";
        let given = new Map<string, number>();
        for (const [day, { version, added, description, cut }] of steps.entries()) {
          const files = catalog.get(version) ?? new Map();
          catalog.set(version, files);
          for (const each of added) if (!files.has(each.file)) files.set(each.file, each);
          if (description) for (const [file, each] of files) files.set(file, { ...each, description });
          // The order of manifests, of artifacts in them and of releases never matters.
          const releases = [...catalog].map(([name, each]) => {
            const listed = coin.next().value ? [...each.values()] : [...each.values()].reverse();
            return releaseOf(name, coin.next().value ? [listed] : listed.map((one) => [one])).release;
          });
          if (coin.next().value) releases.reverse();
          const chosen = cut === "this" ? [version] : undefined;
          const preview = idsOf(catalogOf(releases, ledger, chosen));
          if (cut !== "none") ledger = cutInMemory(releases, ledger, day + 1, chosen).after;
          const after = catalogOf(releases, ledger, chosen ?? (cut === "none" ? [] : undefined));
          expect(after.problems).toEqual([]);
          const now = idsOf(after);
          if (cut !== "none") expect(now).toEqual(preview);
          expect(new Set(now.values()).size).toBe(now.size);
          for (const [identity, id] of given) expect(now.get(identity)).toBe(id);
          const highest = Math.max(0, ...given.values());
          for (const [identity, id] of now) if (!given.has(identity)) expect(id).toBeGreaterThan(highest);
          given = now;
        }
        expect([...given.values()].sort((a, b) => a - b)).toEqual(
          [...given.keys()].map((_, index) => index + 1),
        );
      },
    ),
    { numRuns: often(200, 40) },
  );
});

const idsOf = ({ identified }: ReturnType<typeof catalogOf>) =>
  new Map(
    identified.releases.flatMap(({ release, packages }) =>
      packages.map(({ id, artifact: { file } }) => [`${release.version}/${file}`, id]),
    ),
  );

test("the graphical variant of a release gets its id before the core one", () => {
  const variant = (file: string, gui_only: boolean) => ({
    name: file,
    file,
    package_type: "rpm",
    sha256: "1".repeat(64),
    gui_only,
  });
  const { release } = releaseOf("26.08.001", [[variant("a-core.rpm", false), variant("z-gui.rpm", true)]]);
  expect(release.artifacts.map(({ file }) => file)).toEqual(["z-gui.rpm", "a-core.rpm"]);
});

test("releases are ordered by the numbers of their versions", async () => {
  const two = (most: number) =>
    fc.integer({ min: 1, max: most }).map((number) => String(number).padStart(2, "0"));
  const version = fc
    .tuple(two(99), two(12), fc.integer({ min: 0, max: 999 }))
    .map(([year, month, number]) => `${year}.${month}.${String(number).padStart(3, "0")}`);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(version, { minLength: 2, maxLength: 6 }), async (names) => {
      const catalog = releases(...names.map((name) => plainRelease(name, [])));
      const numbers = (text: string) => text.split(".").map(Number) as [number, number, number];
      const numerically = names.toSorted((a, b) => {
        const [[x = 0, y = 0, z = 0], [u = 0, v = 0, w = 0]] = [numbers(a), numbers(b)];
        return x - u || y - v || z - w;
      });
      expect((await catalog.load()).releases.map((release) => release.version)).toEqual(numerically);
    }),
    { numRuns: often(30, 6) },
  );
});

test("the content hash depends on everything except the order of keys in data", () => {
  const [artifact] = releaseOf("26.08.001", [
    [{ name: "a", package_type: "qcow", sha256: "1".repeat(64), store: { path: "/a", size: 1 } }],
  ]).release.artifacts as [Artifact];
  const content = contentOf(artifact.content, artifact.data);
  const reordered = { ...content, data: { store: { size: 1, path: "/a" } } };
  expect(hashContent(reordered)).toBe(hashContent(content));
  for (const [key, value] of Object.entries(content)) {
    const other = typeof value === "boolean" ? !value : "other";
    expect(hashContent({ ...content, [key]: other } as typeof content), key).not.toBe(hashContent(content));
  }
});
