import { added, cold, nothing, sizeTitle, unchanged } from "./builds.ts";
import { ours } from "./contenders.ts";
import { feedsOf } from "./feeds.ts";
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
const feeds = feedsOf(1000);
const site = (title: string): Figure => [title, cold];

/** From CPU profiles of 1,000 × 25. */
const reading =
  "Reading, checking and normalizing 25,000 manifests take 44 % of the main thread's time: opening and reading the files 12, JSON 8, the shapes (zod) 12, the rules 6. The ledger takes 6 %, pages and documents 19, garbage collection 8. The others parse JSON and check next to nothing. Threads would not pay: two processes with half of the catalog each, at the same time, are 1.3 times as fast.";
const beginning =
  "A fifth is loading the program, a quarter reading and checking, and most of that runs once, before V8 has compiled any of it; Hugo is compiled before.";
const whole =
  "It writes 32,600 files where the same outputs are 2,001, and 8,600 compressed copies. Without compression (`precompress: []`) it takes three quarters of the time, and three fifths of the CPU time. Of the main thread, templates take a fifth, writing and moving files a fifth, storing and reading what pages across releases need a seventh, reading and checking an eighth, garbage collection a fifteenth.";
const adding =
  "Looking at 69,000 inputs and outputs takes 22 % of it, garbage collection 8, the ledger 8, reading the journal and what pages across releases need 14. The whole list, its pages, checksums and their compressed copies are written again.";
const looking =
  "The stat data of 28,000 inputs and 41,000 outputs are read, which alone takes seven times as long as `node -e 0` at 1,000 × 25. Reading the journal, which names them, takes three times as long. At 10 × 25 it is loading the program: SHA-256, which proves that the journal is undamaged, is a quarter of it.";
const starting =
  "Files are read and hashed as fast as openssl does it; what is left is the start of Node and of the command.";
const remembering =
  "80 to 90 MB of V8's heap are in use: 20 by the program, the others by the ledger, the files that were read and written, and the outlines of all releases. V8's young generation takes 60 MB, and garbage in the old one up to 30. Node and its libraries take 60, and freed buffers leave gaps of 60 to 90 in the memory of two threads.";
const growing = "As above; it grows with the number of files and records.";
const indexing =
  "An index names the packages of all releases, so one release more writes and compresses each of them again. Compression with xz and gzip is half of the difference. In a thread, it would need files that are made asynchronously: about 40 lines.";

export const aims: readonly Aim[] = [
  {
    work: `cold, the same outputs, ${large}`,
    of: same(large),
    against: [large, "Eleventy"],
    most: 0.9,
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
    most: 1.6,
    because: beginning,
  },
  { work: `cold, the whole site, ${large}`, of: site(large), against: same(large), most: 4, because: whole },
  {
    work: `one release added, ${large}`,
    of: [large, added],
    against: site(large),
    most: 0.12,
    because: adding,
  },
  {
    work: `nothing changed, ${small}`,
    of: [small, unchanged],
    against: [small, nothing],
    most: 1.6,
    because: looking,
  },
  {
    work: `nothing changed, ${large}`,
    of: [large, unchanged],
    against: [large, nothing],
    most: 9,
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
    most: 300,
    because: remembering,
  },
  {
    work: `memory, the whole site, ${largest}`,
    of: site(largest),
    against: undefined,
    most: 700,
    because: growing,
  },
  {
    work: `one release added with package feeds, ${large}`,
    of: [feeds.title, feeds.addedOn],
    against: [feeds.title, feeds.addedOff],
    most: 1.3,
    because: indexing,
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
