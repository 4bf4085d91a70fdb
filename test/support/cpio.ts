export interface CpioFile {
  path: string;
  content?: Uint8Array;
  /** File type and rights; by default a file's. */
  mode?: number;
}

/** Writes a cpio archive in the form that pkgbuild (odc) or rpm (newc) writes. */
export function cpio(files: readonly CpioFile[], form: "odc" | "newc" = "odc"): Buffer {
  const all = [...files, { path: "TRAILER!!!", mode: 0 }];
  return Buffer.concat(all.flatMap((file) => (form === "odc" ? odc(file) : newc(file))));
}

function odc({ path, content = Buffer.alloc(0), mode = 0o100644 }: CpioFile): Uint8Array[] {
  const octal = (value: number, width: number) => value.toString(8).padStart(width, "0");
  const name = Buffer.from(`${path}\0`);
  const fields = [1, 2, mode, 0, 0, 1, 0].map((value) => octal(value, 6)).join("");
  const head = `070707${fields}${octal(0, 11)}${octal(name.length, 6)}${octal(content.length, 11)}`;
  return [Buffer.from(head), name, content];
}

function newc({ path, content = Buffer.alloc(0), mode = 0o100644 }: CpioFile): Uint8Array[] {
  const hex = (value: number) => value.toString(16).padStart(8, "0");
  const name = Buffer.from(`${path}\0`);
  const fields = [1, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0].map(hex).join("");
  const fill = (length: number) => Buffer.alloc(-length & 3);
  return [Buffer.from(`070701${fields}`), name, fill(110 + name.length), content, fill(content.length)];
}
