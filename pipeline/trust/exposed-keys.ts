import { failure } from "../../shared/errors.ts";
import { isInRepository } from "../system/git/git.ts";

/** A private key inside a work tree could be committed by accident. @throws RelcatError key-exposed */
export async function refuseExposed(folder: string): Promise<void> {
  if (!isInRepository(folder)) return;
  throw failure(
    "key-exposed",
    `${folder} is in a git work tree, expected a folder that is never committed`,
    "For example: ~/.config/relcat/keys, or a removable drive.",
  );
}
