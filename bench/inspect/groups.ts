import { join } from "node:path";
import { hashingGroup } from "../build/hashing.ts";
import type { Group } from "../build/rounds.ts";
import { type Image, imageGroup, makeImage } from "./image.ts";
import { makeLarge } from "./large.ts";
import { hugeGroup, kinds, type Lot, largeLot, packagesGroup, smallLot } from "./packages.ts";
import { makeTrust } from "./trust.ts";

/** How much is inspected. */
export interface Sizes {
  /** Of each small package. */
  copies: number;
  /** Of each file that is hashed; the image has four times as many, the program in large packages one of 32. */
  mebibytes: number;
}

export const debianPackages = [
  "time",
  "openssl",
  "findutils",
  "binutils",
  "gpg",
  "gpg-agent",
  "rpm",
  "rpm2cpio",
  "dpkg",
  "debsig-verify",
  "osslsigncode",
  "wixl",
];

/**
 * Makes what is inspected, and whatever measures it.
 * @param relcat the path of relcat.mjs
 * @param work an existing folder
 */
export async function inspectionGroups(
  relcat: string,
  work: string,
  { copies, mebibytes }: Sizes,
): Promise<{ groups: Group[]; lots: Lot[]; image: Image }> {
  const size = mebibytes * 2 ** 20;
  const large = await makeLarge(work, size / 32, Math.ceil(size * 0.3));
  const trust = await makeTrust(work, large);
  const lots = kinds.flatMap((kind) => [smallLot(work, kind, copies), largeLot(work, kind, large)]);
  const image = makeImage(relcat, work, 4 * size);
  const groups = [
    ...lots.map((lot) => packagesGroup(lot, relcat, trust, work)),
    hugeGroup(join(large, "huge"), relcat, trust, work),
    hashingGroup(relcat, work, size),
    imageGroup(image, work),
  ];
  return { groups, lots, image };
}
