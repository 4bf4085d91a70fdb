/** Content security policy of a page: only own styles, scripts, images and data, and forms that submit to this site. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'";

/** The same as a header, which also forbids frames; a page cannot do that itself. */
export const contentSecurityPolicy = `${pagePolicy}; frame-ancestors 'none'`;

/** Policies for files in which a browser would run scripts, by extension. An SVG file is an artifact or a logo. */
export const contentPolicies = {
  html: contentSecurityPolicy,
  svg: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
} as const;
