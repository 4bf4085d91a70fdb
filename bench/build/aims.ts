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
  "More than half of it is reading: of 4.2 s with the profiler on, opening and reading 26,000 files is 0.36, JSON with its duplicate keys 0.33, YAML 0.23, shapes (zod) 0.58, rules 0.22, normalizing and hashing 0.54, the ledger 0.33; the collector has 0.31, pages, documents and the list 0.67. The others parse JSON and check next to nothing. Tried: block texts of YAML left out of the search for what is delicate (a quarter of release.yaml was slow to read before), keys sorted without lists of entries, no lists of nothing in the rules (a fifth less together); simpler patterns for zod, hashes of texts written by hand (no gain); half of the reading on a second thread (a fifth less wall time at 10,000 releases, next to nothing at 1,000, for a fifth more CPU).";
const beginning =
  "A fifth is loading the program, a quarter reading and checking, and most of that runs once, before V8 has compiled any of it; Hugo is compiled before. Tried: one bundle with a compile cache, only the modules that are needed (an eighth less).";
const whole =
  "It writes 30,268 files where the same outputs are 2,001, and compresses 2,218 of them twice, on another thread. Compression is two fifths of the CPU: a build without siblings takes 17 s of it, one with them 27; two busy threads slow each other down on this machine, so that the siblings cost a fifth of the wall time though they are made beside. Of what is left reading is a quarter, system calls for files a fifth, the collector a twelfth. Tried: brotli 5 instead of 9 for small files (a quarter less CPU at 10 × 25, files 1 to 2 % larger), brotli 1 for the list (an eighth of the time, 6 % larger), markup escaped one mark at a time, platform pages of their own rows alone; brotli 4 and gzip 4 (alone they take two seconds of CPU less over these files, and make pages 9 to 27 % larger) were not taken.";
const adding =
  "Its CPU is spread thin: of 2.7 s with the profiler on, looking at 56,000 files has 0.32, the collector 0.27, releases read back 0.25, the ledger 0.22, hashing the list and what is compared 0.14, the earlier build.json 0.09; 0.14 are spent waiting for the thread that compresses. Tried: what the list is joined of is copied out of the list that lies there, brotli 1 for the list (0.09 s instead of 0.76), gzip fragments under the release's key, outlines instead of whole releases. What a build from nothing saves makes this ratio worse.";
const looking =
  "Nearly all of it is the stats of 27,000 input files and 35,000 outputs, compressed siblings included, of which the system itself takes half. Until the outputs in folders of releases and records were looked at too it took four times `node -e 0`, and missed what was changed there. Tried: numbers compared in place instead of texts, no table parsed, no folder listed that looks the same, no SHA-256, two chunks instead of ten.";
const starting =
  "The file is read and hashed as fast as openssl does it, the next piece while the last is hashed; what is left is the start of Node and of the command, a tenth of a second and a half that a slower machine shows and a faster one hides.";
const startingTwice =
  "Both files are hashed at once, a third faster than one after the other; what is left is Node's start, and that of a second thread.";
const remembering =
  "Some 130 MB of it are V8's, for three threads, of which 40 are alive: the program, paths of files, the ledger's text, what pages say of each release. Node's own code has 55, and what zlib, files and hashes got from malloc on two threads 80 to 100; a careful script that makes the same outputs alone takes about as much as the whole. Tried: the space for young objects bounded at 16 MB, where V8 gives 64, a thread that compresses made to collect what no object tells V8 of, one buffer for all that is read to be compressed, the list's gzip parts made in turn (480 to 330 MB together, for a twentieth more CPU); before that the ledger as its text and places of lines, tables of files as columns, no artifacts of kept releases (566 to 481), records' data read back a release at a time (776). A collection at 16 MB of garbage instead of 32 (60 MB less, two fifths more CPU) was not taken; young objects collected after each release, and V8's page pools turned off, won nothing.";

const growing =
  "What is alive grows by 0.8 KB a record: paths, digests and looks of 560,000 files, what pages that span releases say of each, the ledger's index and its text, which is kept compressed. The rest is what the collector has not taken: a quarter of what is alive and 32 MB, and the room that V8 and malloc keep for themselves. Artifacts, notes, records, pages and lists are made and let go a release at a time; tables are written as they are made. Tried: the ledger read in pieces and packed (200 MB less while it is read, 80 afterwards), the table of outputs written as it grows (50), all of the above (1,714 MB before). Not tried: paths as names in their folders, packed outlines, collections at an eighth.";

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
    most: 1.1,
    because: startingTwice,
  },
];
