import { failure } from "../../../shared/errors.ts";

/** @param object such as s3://bucket/key, or a path */
export const objectTaken = (object: string) =>
  failure(
    "object-taken",
    `${object} has other bytes already, and an artifact's bytes never change`,
    "Give the new file another name or version; if the old one was never released, remove it there first.",
  );

/** Another document already uses the version number of this signed metadata. */
export const numberTaken = (place: string) =>
  failure(
    "object-taken",
    `${place} exists with other bytes`,
    /metadata\/\d+\.(root|targets)\.json$/.test(place)
      ? "Signatures of another relcat trust init are published there: use releases/trust of that one, or another prefix."
      : "Someone signed under the same number: relcat sign --site again, which uses the next one.",
  );
