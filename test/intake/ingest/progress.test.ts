import { expect, test } from "vitest";
import { showReading } from "../../../cli/terminal/progress.ts";

function watch(columns: number | undefined) {
  let time = 0;
  const written: string[] = [];
  const output = {
    write: (text: string) => written.push(text),
    style: (_: unknown, text: string) => text,
    columns,
  };
  const reading = showReading({ messages: output, quiet: false }, "Reading", () => time);
  const total = 4_000_000_000;
  return {
    written,
    reading,
    /** Reads 200 MB a second, a chunk every 50 ms. */
    until(end: number) {
      for (; time < end; time += 50)
        reading.onProgress({ file: "controller.qcow2", done: time * 200_000, total });
    },
  };
}

test("a terminal shows a bar after one second, ten times a second, and clears it at the end", () => {
  const { written, reading, until } = watch(80);
  until(1000);
  expect(written).toEqual([]);
  until(3050);
  expect(written).toHaveLength(21);
  expect(written.at(-1)).toBe(
    "\r[###...............] 15 % of 4.0 GB, 200.0 MB/s, 17 s left controller.qcow2\x1b[K",
  );
  reading.end();
  expect(written.at(-1)).toBe("\r\x1b[K");
});

test("other outputs show a plain line every ten seconds", () => {
  const { written, reading, until } = watch(undefined);
  until(10_000);
  expect(written).toEqual([]);
  until(20_050);
  reading.end();
  expect(written).toEqual([
    "Reading controller.qcow2: 2.0 GB of 4.0 GB (50 %)\n",
    "Reading controller.qcow2: 4.0 GB of 4.0 GB (100 %)\n",
  ]);
});

test("a long remaining time is in minutes, and nothing is shown before the first byte", () => {
  let time = 0;
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text), style: () => "", columns: 80 };
  const reading = showReading({ messages: output, quiet: false }, "Reading", () => time);
  for (const done of [0, 1_000_000]) {
    time += 2_000;
    reading.onProgress({ file: "kvm.qcow2", done, total: 100_000_000 });
  }
  expect(written[0]).not.toContain("left");
  expect(written[1]).toContain(" 1 % of 100.0 MB, 250.0 kB/s, 7 min left kvm.qcow2");
});

test("the line names the operation", () => {
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text), style: () => "", columns: undefined };
  let time = 0;
  const sending = showReading({ messages: output, quiet: false }, "Uploading", () => time);
  time = 10_000;
  sending.onProgress({ file: "kvm.qcow2", done: 1_000, total: 4_000 });
  expect(written).toEqual(["Uploading kvm.qcow2: 1.0 kB of 4.0 kB (25 %)\n"]);
});

test("a narrow terminal gets a shorter line, and control characters of names are replaced", () => {
  for (const columns of [10, 20, 40, 60]) {
    const { written, until } = watch(columns);
    until(1050);
    expect(written[0]?.replace("\r", "").replace("\x1b[K", "").length).toBeLessThan(columns);
  }
  const written: string[] = [];
  const output = {
    write: (text: string) => written.push(text),
    style: (_: unknown, text: string) => text,
    columns: undefined,
  };
  let time = 0;
  const reading = showReading({ messages: output, quiet: false }, "Reading", () => time);
  time = 10_000;
  reading.onProgress({ file: "a\x1b[2Jb", done: 0, total: 0 });
  expect(written).toEqual(["Reading a\uFFFD[2Jb: 0 bytes of 0 bytes (100 %)\n"]);
});
