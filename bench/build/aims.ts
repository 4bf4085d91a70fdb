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

/** From CPU profiles of 1,000 × 25, taken on one thread. */
const reading =
  "Half of it is reading: of 2.9 s, opening and reading 25,000 files is 0.24, JSON with its duplicate keys and places 0.17, YAML 0.30, shapes (zod) 0.29, rules 0.15, normalizing and hashing 0.37, the ledger 0.18; the collector has 0.42, pages and writing 0.45. The others parse JSON and check next to nothing. Tried: a release at a time, js-yaml before yaml, one pass for duplicate keys, half of the reading on a second thread (a fifth less wall time at 10,000 releases, next to nothing at 1,000, for a seventh to a fifth more CPU: what V8 compiled for one thread it compiles for the other again).";
const beginning =
  "A fifth is loading the program, a quarter reading and checking, and most of that runs once, before V8 has compiled any of it; Hugo is compiled before. Tried: one bundle with a compile cache, only the modules that are needed (an eighth less).";
const whole =
  "It writes 30,268 files where the same outputs are 2,001, and compresses 2,218 of them twice. Compression is two fifths of the CPU: a build without siblings takes 17 s of it, one with them 29. Of what is left reading is a quarter, system calls for files a fifth, the collector a thirteenth. Tried: gzip 6 instead of 9 (a tenth less, for files that are 3 % larger), compression while files are made, releases read and written by two threads (at most a twentieth less wall time for a tenth more CPU), records' texts made once.";
const adding =
  "Of 2.7 s of CPU brotli has 0.65 for the list, looking at 56,000 files 0.3, the list's text (every record is read back and written) 0.3, the collector 0.2, SHA-256 0.15, the ledger 0.13. Tried: gzip fragments under the release's key, which need no text (0.3 less); outlines instead of whole releases.";
const looking =
  "Four fifths are the stats of 26,000 input files, of which the system itself takes half. Tried: numbers compared in place instead of texts, no table parsed, no folder listed that looks the same, no SHA-256, two chunks instead of ten.";
const startingTwice =
  "Both files are hashed at once, a third faster than one after the other; what is left is Node's start, and that of a second thread.";
const remembering =
  "About 100 MB are alive at the end: 2 KB a record for outlines, ledger, states and digests of files, over 25 MB of program. The rest is what V8 has not collected: it doubles its heap before it looks. Tried: records' data read back a release at a time (776 MB before), large files compressed as streams, --heap-growing-percent=20 (430 MB, 20 % slower), smaller semi-spaces (375 MB, 25 % slower), one malloc arena (no change).";

const growing =
  "It grows with the records, 6 KB each: outlines, ledger lines, what files look like and their digests are held until the end, and what V8 has not collected beside them. What is larger (a record's data, pages, lists) is made and let go a release at a time. Not tried: such tables in files instead of objects.";

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
    most: 4.5,
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
  },
  {
    work: hashing.two,
    of: [hashing.title, hashing.two],
    against: [hashing.title, hashing.opensslTwo],
    most: 1.1,
    because: startingTwice,
  },
];
