import type { PublishedPackage, SiteConfig } from "../../documents/published.ts";
import { importView } from "./import-view.ts";
import type { ArtifactView } from "./models/file-models.ts";
import { offersOf, repositoriesOf } from "./repositories.ts";

/**
 * The lines that install exactly this artifact from the site's repositories, or import an image into its platform.
 * The lines of imports are in templates/install.hbs.
 * @returns null if there are none
 */
export function installView(entry: PublishedPackage, config: SiteConfig): ArtifactView["install"] {
  const offers = offersOf(entry, config);
  const repositories = repositoriesOf(config).flatMap(({ name, setup }) =>
    offers.flatMap(({ repository, exact }) =>
      repository === name && exact !== undefined ? [{ name, lines: [...setup, exact].join("\n") }] : [],
    ),
  );
  const isInImageServer = repositories.some(({ name }) => name === "Incus");
  const imports = importView(entry, config).filter(({ incusArchive }) => !incusArchive || !isInImageServer);
  return repositories.length + imports.length > 0 ? { repositories, imports } : null;
}
