/** @module-tag long */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChannelRequest } from "../../pipeline/index.ts";
import { seed } from "../support/effort.ts";
import { change, project, textsOf } from "./support.ts";

const versions = ["26.01.001", "26.02.001", "26.03.001", "26.04.001"];

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
