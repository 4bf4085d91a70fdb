import { added, cold, nothing, sizeTitle, unchanged } from "./builds.ts";
import { ours } from "./contenders.ts";
import { hashing } from "./hashing.ts";
import type { Aim, Figure } from "./outcomes.ts";
import { startup } from "./startup.ts";

const [small, middle, large, largest] = [10, 100, 1000, 10_000].map(sizeTitle) as [
  string,
  string,
  string,
  string,
];

const same = (title: string): Figure => [title, ours];
const site = (title: string): Figure => [title, cold];

/** From CPU profiles of 1,000 × 25 on a quiet machine, unless they say otherwise. */
const reading =
  "Of 1.7 s on the main thread, reading, checking and normalizing 25,000 manifests take 1.0 s: opening and reading the files 0.2, JSON 0.1, the shapes (zod) 0.2, normalizing and hashing 0.18. The ledger takes 0.12, pages and documents 0.28, garbage collection 0.19. The others parse JSON and check next to nothing. Threads would not pay: two processes with half of the catalog each, at the same time, need 1.34 s, which is 1.3 times as fast.";
const beginning =
  "A fifth is loading the program, a quarter reading and checking, and most of that runs once, before V8 has compiled any of it; Hugo is compiled before.";
const whole =
  "It writes 30,268 files where the same outputs are 2,001, and 4,436 compressed copies. Without compression (`precompress: []`) it takes 6.8 s instead of 10.4, and 8.1 s of CPU instead of 14.4. Of the main thread, writing and moving files takes a quarter, starting compression and taking its results a fifth, storing what pages across releases need an eighth, garbage collection a twelfth.";
const adding =
  "Looking at 63,000 inputs and outputs takes 0.55 s of 2.5, garbage collection 0.2, the ledger 0.15, reading and writing the journal 0.3. The whole list, its pages, checksums and their compressed copies are written again. What a build from nothing saves makes this ratio worse.";
const looking =
  "The stat data of 28,000 inputs and 35,000 outputs are read, which alone takes 0.16 s at 1,000 × 25, seven times `node -e 0`. Reading the journal, which names them, takes 0.06 s. At 10 × 25 it is loading the program: SHA-256, which proves that the journal is undamaged, is a quarter of it.";
const starting =
  "The file is read and hashed as fast as openssl does it; what is left is the start of Node and of the command.";
const remembering =
  "The journal of what was read and written is in memory, with the outlines of all releases: 35,000 outputs with their digests, 28,000 inputs, and for each of the 25,000 artifacts what checks across releases need. Releases themselves are forgotten one after the other.";
const growing = "As above; it grows with the number of files and records.";

export const aims: readonly Aim[] = [
  {
    work: `cold, the same outputs, ${large}`,
    of: same(large),
    against: [large, "Eleventy"],
    most: 0.5,
    because: reading,
  },
  {
    work: `cold, the same outputs, ${large}`,
    of: same(large),
    against: [large, "createrepo_c"],
    most: 1,
    because: reading,
  },
  {
    work: `cold, the same outputs, ${small}`,
    of: same(small),
    against: [small, "Hugo"],
    most: 1,
    because: beginning,
  },
  { work: `cold, the whole site, ${large}`, of: site(large), against: same(large), most: 4, because: whole },
  {
    work: `one release added, ${large}`,
    of: [large, added],
    against: site(large),
    most: 0.15,
    because: adding,
  },
  {
    work: `nothing changed, ${small}`,
    of: [small, unchanged],
    against: [small, nothing],
    most: 1.4,
    because: looking,
  },
  {
    work: `nothing changed, ${large}`,
    of: [large, unchanged],
    against: [large, nothing],
    most: 8,
    because: looking,
  },
  {
    work: startup.ours,
    of: [startup.title, startup.ours],
    against: [startup.title, startup.empty],
    most: 1.3,
  },
  {
    work: `memory, the whole site, ${large}`,
    of: site(large),
    against: undefined,
    most: 220,
    because: remembering,
  },
  {
    work: `memory, the whole site, ${largest}`,
    of: site(largest),
    against: undefined,
    most: 300,
    because: growing,
  },
  { work: `growth to ${large}, the same outputs`, of: same(large), against: same(middle), most: 10 },
  { work: `growth to ${large}, the whole site`, of: site(large), against: site(middle), most: 10 },
  {
    work: hashing.one,
    of: [hashing.title, hashing.one],
    against: [hashing.title, hashing.opensslOne],
    most: 1.05,
    because: starting,
  },
  {
    work: hashing.two,
    of: [hashing.title, hashing.two],
    against: [hashing.title, hashing.opensslTwo],
    most: 1.15,
    because: starting,
  },
  {
    work: hashing.twelve,
    of: [hashing.title, hashing.twelve],
    against: [hashing.title, hashing.opensslTwelve],
    most: 1.15,
    because: starting,
  },
];
