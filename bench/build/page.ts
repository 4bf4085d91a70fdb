/** The page of a release, for Handlebars: what every contender's page says, in this order. */
export const pageTemplate = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{title}}</title></head><body>
<h1>{{title}}</h1>
<p>Released {{date}}</p>
{{{summaryHtml}}}{{{notesHtml}}}<h2>Downloads</h2>
<table><tr><th>File</th><th>Type</th><th>Bytes</th><th>SHA-256</th></tr>
{{#each packages}}
<tr><td><a href="{{url}}">{{name}}</a></td><td>{{type}}</td><td>{{size}}</td><td><code>{{checksum}}</code></td></tr>
{{/each}}
</table>
</body></html>
`;
