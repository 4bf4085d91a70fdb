import { expect, test } from "vitest";
import { configSchema } from "../../pipeline/documents/config.ts";
import type { ReleaseDocument } from "../../pipeline/documents/site.ts";
import { provenanceStatement } from "../../pipeline/trust/provenance.ts";

const rev = "c".repeat(40);
const release = {
  version: "26.08.001",
  packages: [{ id: 1, checksum: "a".repeat(64), data: { vendor: { rev } } }],
  artifacts: { "1": { file: "a.qcow2" } },
} as unknown as ReleaseDocument;
const id = "https://ci.example.com/builder";

test.each([
  [{ id }, { digest: { gitCommit: rev } }],
  [
    { id, source: "git+https://git.example.com/product" },
    { uri: "git+https://git.example.com/product", digest: { gitCommit: rev } },
  ],
])("a dependency's uri is a URI or absent: %j", (builder, dependency) => {
  expect(provenanceStatement(release, builder, "vendor")).toMatchObject({
    predicate: { buildDefinition: { resolvedDependencies: [dependency] }, runDetails: { builder: { id } } },
  });
  const [stated] = (
    provenanceStatement(release, builder, "vendor") as {
      predicate: { buildDefinition: { resolvedDependencies: object[] } };
    }
  ).predicate.buildDefinition.resolvedDependencies;
  expect(stated).toEqual(dependency);
});

test("an imported file without a SHA-256 is not a subject", () => {
  const checksums = ["unknown", "d41d8cd98f00b204e9800998ecf8427e"];
  const more = checksums.map((checksum) => ({ ...release.packages[0], checksum }));
  const imported = { ...release, packages: [...more, ...release.packages] } as ReleaseDocument;
  expect(provenanceStatement(imported, { id }, "vendor")).toMatchObject({
    subject: [{ name: "a.qcow2", digest: { sha256: "a".repeat(64) } }],
  });
});

test.each([
  ["git+https://git.example.com/product", true],
  ["git+ssh://git@example.com/product", true],
  ["git", false],
  ["https://git.example.com/product", false],
  ["git+https://", false],
])("the configured source %j is a git URI: %s", (source, isGood) => {
  const { success } = configSchema.safeParse({ product: "X", builder: { id, source } });
  expect(success).toBe(isGood);
});
