/** A downloadable file, as the signed document of its release describes it. */
export interface Artifact {
  id: number;
  version: string;
  file: string;
  url: string;
  /** undefined: imported without a checksum. */
  sha256: string | undefined;
  size: number | null;
  packageType: string;
  /** Date of the cut. */
  createdDate: string;
}
