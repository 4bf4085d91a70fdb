/** relcat's own templates, compiled, by their digests. Empty here: cli/bundle.ts writes them into the bundle. */
export const bundledTemplates: ReadonlyMap<string, TemplateSpecification> = new Map();
