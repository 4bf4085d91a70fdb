/** @module-tag long */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChannelRequest, RelcatError } from "../../pipeline/index.ts";
import { often, seed } from "../support/effort.ts";
import { change, namedIn, project, textsOf } from "./support.ts";

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

test("the lines of a ledger give the same channels in any order that it allows", async () => {
  const { readLedger } = await import("../../pipeline/ledger/ledger.ts");
  const { channelStates } = await import("../../pipeline/index.ts");
  const made = project(versions);
  await made.cut();
  const requests: ChannelRequest[] = [
    { event: "promote", channel: "beta", version: "26.04.001" },
    { event: "halt", channel: "stable", version: "26.02.001", reason: "One." },
    { event: "promote", channel: "stable", version: "26.04.001" },
    { event: "halt", channel: "beta", version: "26.04.001", reason: "Two." },
    { event: "resume", channel: "stable", version: "26.02.001" },
    { event: "promote", channel: "beta", version: "26.01.001" },
    { event: "resume", channel: "beta", version: "26.04.001" },
    { event: "halt", channel: "stable", version: "26.01.001", reason: "Three." },
  ];
  for (const request of requests) await change(made, request);
  const lines = made.read("ledger.jsonl").trimEnd().split("\n");
  const stateOf = (ordered: readonly string[]) => {
    // Each line gets the time of its place.
    const dated = ordered.map((line, index) => {
      const event = JSON.parse(line);
      const at = `2026-10-01T12:${String(Math.floor(index / 60)).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}.000000Z`;
      return `${JSON.stringify({ ...event, at })}\n`;
    });
    const { ledger, problems } = readLedger({ file: "ledger.jsonl", text: dated.join("") });
    const states = channelStates(ledger, ["stable", "beta"]).map(({ name, newest, releases }) => [
      ...[name, newest],
      releases.map(({ version, halted }) => [version, halted?.reason]),
    ]);
    return { states, isAllowed: problems.length === 0 };
  };
  const { states, isAllowed } = stateOf(lines);
  expect(isAllowed).toBe(true);
  let allowed = 0;
  fc.assert(
    fc.property(fc.array(fc.nat(lines.length - 2), { minLength: 1, maxLength: 40 }), (swaps) => {
      let ordered = [...lines];
      for (const at of swaps) {
        const swapped = ordered.with(at, ordered[at + 1] ?? "").with(at + 1, ordered[at] ?? "");
        const after = stateOf(swapped);
        if (!after.isAllowed) continue;
        allowed++;
        expect(after.states).toEqual(states);
        ordered = swapped;
      }
    }),
    { numRuns: 60, seed },
  );
  expect(allowed).toBeGreaterThan(100);
});

test("a project without channels is built byte for byte as before, and a new channel changes nothing for latest", async () => {
  const [without, withChannels] = [project(versions, { channels: undefined }), project(versions)];
  for (const made of [without, withChannels]) {
    await made.cut();
    await made.build({ released: true });
  }
  const [plain, texts] = [textsOf(without), textsOf(withChannels)];
  const news = [...texts.keys()].filter((path) => !plain.has(path));
  expect(
    news.filter(
      (path) =>
        !/^(?:api\/v1\/channel\/|releases\/channels\/|dists\/beta\/|yum\/|charts\/beta\/|acme-beta)/.test(
          path,
        ),
    ),
  ).toEqual([]);
  const changed = [...plain].filter(([path, text]) => texts.get(path) !== text).map(([path]) => path);
  // Pages have the badge and links, lists of files have the new files.
  expect(
    changed.filter(
      (path) =>
        !/^(?:build\.json|sitemap\.xml|(?:index|feeds\/index|releases\/[^/]+\/index)\.html)/.test(path),
    ),
  ).toEqual([]);
  expect(
    [...plain.keys()].some(
      (path) => /channel/.test(path.replace("schemas/", "")) && !path.startsWith("schemas/"),
    ),
  ).toBe(false);
});

test("a file by hand that lacks a line before it is refused", async () => {
  const made = project(versions);
  await made.cut();
  const path = join(made.folder, "ledger.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  const at = "2026-10-02T12:00:00.000000Z";
  const lines = [
    { event: "promote", channel: "stable", version: "26.09.001", at },
    { event: "halt", channel: "stable", version: "26.01.001", reason: "x", at },
    { event: "resume", channel: "stable", version: "26.01.001", at },
    { event: "promote", channel: "beta", version: "26.01.001", at },
    { event: "promote", channel: "beta", version: "26.01.001", at: "2026-10-02T12:00:01.000000Z" },
    { event: "resume", channel: "beta", version: "26.01.001", at: "2026-10-02T12:00:02.000000Z" },
    { event: "promote", channel: "Beta", version: "26.01.001", at: "2026-10-02T12:00:03.000000Z" },
  ];
  writeFileSync(path, made.read("ledger.jsonl") + lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect((await made.problems()).map((text) => text.split("\n")[0])).toEqual([
    "ledger.jsonl:17:1 error[ledger-event] promote names 26.09.001, which is not cut",
    "ledger.jsonl:18:1 error[ledger-event] halt names 26.01.001, which is not in stable",
    "ledger.jsonl:19:1 error[ledger-event] resume names 26.01.001, which is not in stable",
    "ledger.jsonl:21:1 error[ledger-event] promote names 26.01.001, which is in beta already",
    "ledger.jsonl:22:1 error[ledger-event] resume names 26.01.001, which is not halted in beta",
    expect.stringMatching(
      /^ledger\.jsonl:23:1 error\[ledger-line\] the line is not a ledger event \(channel: /,
    ),
  ]);
});
