import fc from "fast-check";
import { expect, test } from "vitest";
import { heldFile, tooLarge } from "../../inspect/held-file.ts";

const isProgram = (head: Uint8Array) => Buffer.from(head).toString("latin1").startsWith("MZ");

/** Kept and streamed bytes for input in chunks of these sizes. */
function written(content: Uint8Array, sizes: readonly number[], size = content.length) {
  const passed: Buffer[] = [];
  const held = heldFile(size, isProgram, (chunk) => void passed.push(Buffer.from(chunk)));
  for (let at = 0, index = 0; at < content.length; index++) {
    const step = sizes[index % sizes.length] ?? 1;
    held.write(content.subarray(at, at + step));
    at += step;
  }
  return { held: held.bytes(), passed: Buffer.concat(passed) };
}

test("a program is kept and other content is not, in any chunks", () => {
  const content = fc.tuple(fc.constantFrom("MZ", "ab", ""), fc.uint8Array({ maxLength: 60 }));
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
  fc.assert(
    fc.property(content, sizes, ([head, rest], sizes) => {
      const bytes = Buffer.concat([Buffer.from(head), rest]);
      const { held, passed } = written(bytes, sizes);
      if (bytes.length === 0) expect([held, passed.length]).toEqual([undefined, 0]);
      else if (isProgram(bytes)) expect([Buffer.from(held as Uint8Array), passed.length]).toEqual([bytes, 0]);
      else expect([held, passed]).toEqual([undefined, bytes]);
    }),
  );
});

test("a program that is too large to keep is reported and takes no memory", () => {
  const before = process.memoryUsage().arrayBuffers;
  const { held } = written(Buffer.from("MZ program that says it is large"), [4], 200 << 20);
  expect(held).toBe("too-large");
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
  expect(tooLarge("agent.exe")).toEqual({
    name: "agent.exe",
    signature: null,
    verdict: "unsupported-format",
  });
});
