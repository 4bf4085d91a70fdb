import { hashing } from "../build/hashing.ts";
import type { Aim, Figure } from "../build/outcomes.ts";
import { image } from "./image.ts";
import { huge, type Kind, largeTitle, ours, smallTitle, stock } from "./packages.ts";

const unpacking =
  "The tool hashes the file as it is; relcat unpacks it too and looks through every file inside, and nearly all of its time is that.";
const starting = "Starting relcat takes 0.1 s, whatever it is given.";
const signature =
  "A fifth of what rpmkeys takes for a package is less than OpenSSL takes to verify one RSA signature of 4096 bits. Of relcat's own time a tenth is that and a tenth is unpacking; the rest is spread over reading headers, files and signatures.";
const garbage =
  "Until V8 first collects them, what reading leaves behind takes 6 MB, which smaller files do not fill.";

const beside = (title: string, tool: string, most: number, because: string): Aim => ({
  work: title,
  of: [title, ours],
  against: [title, tool],
  most,
  because,
});

const packages = (
  kind: Kind,
  most: number,
  tools: readonly (readonly [tool: string, because: string])[],
): Aim[] => [
  ...tools.map(([tool, because]) => beside(smallTitle(kind), tool, most, because)),
  ...tools.map(([tool]) => beside(largeTitle(kind), tool, most, unpacking)),
];

const hash = (of: string, against: string, most: number, because: string): Aim => ({
  work: of,
  of: [hashing.title, of],
  against: [hashing.title, against],
  most,
  because,
});

const memory = (most: number, [title, name]: Figure): Aim => ({
  work: `memory of ${name}`,
  of: [title, name],
  against: undefined,
  most,
  because: garbage,
});

export const aims: readonly Aim[] = [
  ...packages("rpm", 0.2, [
    [stock.rpm, signature],
    [stock.rpmEach, starting],
  ]),
  ...packages("deb", 0.2, [[stock.deb, starting]]),
  ...packages("msi", 0.5, [
    [
      stock.msi,
      "The tool verifies one signature, relcat also those of the programs in the cabinets, which it unpacks.",
    ],
  ]),
  ...huge.inspected.map(
    (name): Aim => ({
      work: name,
      of: [huge.title, name],
      against: [huge.title, huge.hash],
      most: 1.3,
      because: unpacking,
    }),
  ),
  hash(hashing.one, hashing.opensslOne, 1.05, starting),
  hash(hashing.two, hashing.opensslTwo, 1.15, starting),
  hash(hashing.twelve, hashing.opensslTwelve, 1.15, starting),
  hash(hashing.twoInParallel, hashing.opensslTwo, 1.1, starting),
  {
    work: image.inspected,
    of: [image.title, image.inspected],
    against: [image.title, image.openssl],
    most: 1.05,
  },
  // Each file in progress has a thread with four chunks.
  memory(100, [hashing.title, hashing.one]),
  memory(120, [hashing.title, hashing.twelve]),
  memory(100, [image.title, image.hashed]),
];
