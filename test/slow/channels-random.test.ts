import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChannelRequest, RelcatError } from "../../pipeline/index.ts";
import { change, namedIn, project, textsOf } from "../channels/support.ts";
import { often, seed } from "../support/effort.ts";

const versions = ["26.01.001", "26.02.001", "26.03.001", "26.04.001"];
const idsOf = (version: string) => [1, 2, 3, 4].map((id) => versions.indexOf(version) * 4 + id);

type Step =
  | { kind: "cut" }
  | { kind: "retract" | "reinstate"; version: string }
  | { kind: "change"; request: ChannelRequest };

const version = fc.constantFrom(...versions);
const channel = fc.constantFrom("stable", "beta");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "cut" }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("retract", "reinstate"), version }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("change" as const),
      request: fc.record({
        event: fc.constantFrom("promote", "promote", "halt", "resume"),
        channel,
        version,
        reason: fc.constant("Loses settings."),
      }) as fc.Arbitrary<ChannelRequest>,
    }),
  },
);

/** The rules of channels, without code of relcat. */
class Model {
  cut = new Set<string>();
  withdrawn = new Set<string>();
  /** `channel version` of each promotion; undefined before the first one. */
  promoted: Set<string> | undefined;
  halted = new Set<string>();

  offers(channel: string): string[] {
    const isIn = (each: string) =>
      this.promoted ? this.promoted.has(`${channel} ${each}`) : channel === "stable";
    return versions.filter(
      (each) =>
        this.cut.has(each) &&
        isIn(each) &&
        !this.withdrawn.has(each) &&
        !this.halted.has(`${channel} ${each}`),
    );
  }

  /** @returns whether the change is possible */
  change({ event, channel, version }: ChannelRequest): boolean {
    const key = `${channel} ${version}`;
    const begun = this.promoted ?? this.beginning(event, version);
    const isPossible =
      this.cut.has(version) &&
      (event === "promote" ? !begun.has(key) : begun.has(key)) &&
      (event === "halt" ? !this.halted.has(key) : event === "promote" || this.halted.has(key)) &&
      (event === "halt" || !this.withdrawn.has(version));
    if (!isPossible) return false;
    this.promoted = event === "promote" ? new Set([...begun, key]) : begun;
    if (event === "halt") this.halted.add(key);
    if (event === "resume") this.halted.delete(key);
    return true;
  }

  private beginning(event: string, version: string): Set<string> {
    const others = [...this.cut].filter((each) => !(event === "promote" && each === version));
    const kept = others.filter((each) => !this.withdrawn.has(each));
    return new Set(kept.map((each) => `stable ${each}`));
  }
}

test("channels offer what the rules say, in every format, after any sequence of changes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const made = project(versions);
      const model = new Model();
      for (const [index, each] of steps.entries()) {
        const at = `2026-10-01T12:00:${String(index).padStart(2, "0")}.000000Z`;
        const before = model.offers("stable").at(-1) ?? "";
        if (each.kind === "cut") {
          const next = versions[model.cut.size];
          if (!next) continue;
          await made.cut({ versions: [next] }, at);
          model.cut.add(next);
        } else if (each.kind === "change") {
          const wasBegun = model.promoted !== undefined;
          const isPossible = model.change(each.request);
          const done = await change(made, each.request, at).then(
            () => true,
            (error: unknown) => {
              if (error instanceof RelcatError) return false;
              throw error;
            },
          );
          expect(done, JSON.stringify(each)).toBe(isPossible);
          // The first promotion into another channel takes a release out of the default one that was just cut.
          const { event, channel } = each.request;
          const mayFall = event === "halt" || (!wasBegun && event === "promote" && channel !== "stable");
          if (!mayFall) expect((model.offers("stable").at(-1) ?? "") >= before).toBe(true);
        } else if (
          model.cut.has(each.version) &&
          model.withdrawn.has(each.version) === (each.kind === "reinstate")
        ) {
          const ids = idsOf(each.version);
          if (each.kind === "retract") {
            await made.retract({ ids, reason: "Broken." }, at);
            model.withdrawn.add(each.version);
          } else {
            await made.reinstate(ids, at);
            model.withdrawn.delete(each.version);
          }
        }
      }
      await made.build({ released: true });
      const texts = textsOf(made);
      for (const name of ["stable", "beta"]) {
        const offered = model.offers(name);
        const lists = namedIn(name, texts, versions);
        for (const [path, found] of lists)
          expect(
            [...found].filter((each) => !offered.includes(each)),
            `${path} in ${name}`,
          ).toEqual([]);
        // Lists of every release have all of them.
        for (const path of [
          `api/v1/channel/${name}/versions.txt`,
          `dists/${name}/main/binary-amd64/Packages`,
        ])
          if (offered.length > 0) expect([path, [...(lists.get(path) ?? [])]]).toEqual([path, offered]);
        const document = JSON.parse(texts.get(`api/v1/channel/${name}.json`) ?? "");
        expect(document.version).toBe(offered.at(-1) ?? null);
      }
      expect((texts.get("api/v1/latest.txt") ?? "").trim()).toBe(model.offers("stable").at(-1) ?? "");
    }),
    { numRuns: often(300, 15), seed },
  );
});
