import { absolutePath, line, table } from "../../../../shared/fields.ts";
import type { Path } from "../../../../shared/source.ts";
import { isObject } from "../../../documents/is-object.ts";
import type { FoundFile } from "../evidence.ts";
import { count, loose, shape } from "./shape.ts";
import { productName } from "./store-path.ts";

const disk = loose({ file: absolutePath, logical_bytes: count.optional() });

/**
 * The logical_bytes of nix-support/image-info.json are the size of the virtual disk, not of the download: not stored.
 */
export const imageInfo = shape({
  title: "nix-support/image-info.json",
  fits: (value) =>
    isObject(value) && "label" in value && "system" in value && ("file" in value || "disks" in value),
  schema: loose({
    label: line,
    system: line,
    logical_bytes: count.optional(),
    file: absolutePath.optional(),
    disks: table(disk, "an object of disk: {file}").optional(),
  }),
  read({ value: { file, disks = {} }, place }) {
    const fileOf = (path: string, where: Path): FoundFile => ({
      name: productName(path),
      paths: [path],
      at: () => place(where),
    });
    const ofDisks = Object.entries(disks).map(([name, each]) => fileOf(each.file, ["disks", name, "file"]));
    return { files: file === undefined ? ofDisks : [fileOf(file, ["file"]), ...ofDisks] };
  },
});
