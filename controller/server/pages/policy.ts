/** Content security policy: only own styles, scripts and images, and forms that submit to this site. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'";
