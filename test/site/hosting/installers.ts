import { execa, execaSync } from "execa";
import type { ArtifactName } from "./catalog.ts";
import { listen } from "./homes/file-server.ts";

interface Installer {
  /** A shell script that is in use. $CATALOG is the base URL, $CURL is curl with a route to the files of this test. */
  lines: readonly string[];
  /** The expected download. */
  file: ArtifactName;
}

/** Existing scripts that must keep working. */
export const installers: Readonly<Record<string, Installer>> = {
  "the first of a filtered list": {
    lines: [
      `ID=$(curl -s "$CATALOG/api/v1/package/?operating_system=linux&package_type=deb&max_os_version=20.04" | jq -r '.[0].id')`,
      "$CURL -sSfL $CATALOG/api/v1/package/$ID/download/",
    ],
    file: "core20",
  },
  "an image as a URL": {
    lines: ['$CURL -sSfL "$CATALOG/api/v1/package/latest/?package_type=qcow-efi"'],
    file: "image",
  },
  "a client by its version and variant": {
    lines: [
      '$CURL -sSfL "$CATALOG/api/v1/package/latest/?package_type=deb&min_os_version=22.04&headless=true"',
    ],
    file: "core22",
  },
};

const isThere = (program: string) => execaSync(program, ["--version"], { reject: false }).exitCode === 0;

export const hasPrograms = isThere("curl") && isThere("jq");

/** Runs a script against a catalog. Its downloads come from a server that answers every path with its last segment. */
export async function runInstaller({ lines }: Installer, catalog: string): Promise<string> {
  const files = await listen(({ url = "" }, response) => void response.end(url.split("/").at(-1)));
  const CURL = `curl --connect-to files.example.com:80:${files.origin.slice("http://".length)}`;
  try {
    const { stdout } = await execa("bash", ["-euc", lines.join("\n")], { env: { CATALOG: catalog, CURL } });
    return stdout;
  } finally {
    files.stop();
  }
}
