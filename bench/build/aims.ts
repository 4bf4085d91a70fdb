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
  "Its CPU is spread thin: of 3.9 s with the profiler on, looking at 56,000 files has 0.55, releases read back 0.63, the ledger 0.40, the collector 0.31, the earlier build.json 0.18, loading the program 0.15. Tried: what the list is joined of is copied out of the list that lies there, brotli 1 for the list (0.09 s instead of 0.76), gzip fragments under the release's key, outlines instead of whole releases.";
const looking =
  "Four fifths are the stats of 26,000 input files, of which the system itself takes half. Tried: numbers compared in place instead of texts, no table parsed, no folder listed that looks the same, no SHA-256, two chunks instead of ten.";
const starting =
  "The file is read and hashed as fast as openssl does it, the next piece while the last is hashed; what is left is the start of Node and of the command, a tenth of a second and a half that a slower machine shows and a faster one hides.";
const startingTwice =
  "Both files are hashed at once, a third faster than one after the other; what is left is Node's start, and that of a second thread.";
const remembering =
  "About 40 MB are alive at the end, where 115 were: the program, paths of files, the ledger's text, notes. Besides them stand two spaces for young objects (64 MB), what V8 has not collected, the thread that compresses (60 MB, most of it zlib's), and Node itself (47 MB). Tried: the ledger as its text and places of lines (1.1 to 0.5 KB a record), tables of files as columns (145 to 15 MB at 260,000 files), no artifacts of kept releases (1.3 KB a record less), a collection whenever the heap has grown by half and 64 MB; before that records' data read back a release at a time (776 MB before), --heap-growing-percent=20 (430 MB of 566, 20 % slower), smaller spaces for young objects (60 MB less, but only to be had by a flag of Node's).";

const growing =
  "It grows by 3.5 KB a record, half of what it was: the ledger's text (0.4), paths of inputs and outputs and their digests, and what V8 has not collected beside them. Artifacts, records, pages and lists are made and let go a release at a time. Tried: the ledger, the tables and the releases as above (1,714 MB before). Not tried: tables in files instead of columns; paths as names in their folders.";

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
