# Manifests in, one document per release out, the newest first.
(reduce ($ledger[] | select(.event == "add")) as $line
  ({}; .["\($line.version)/\($line.file)"] = $line)) as $added
| (reduce (inputs | .release as $version | .artifacts[] + {version: $version}) as $artifact
  ({}; .[$artifact.version] += [$artifact])) as $artifacts
| $releases
| sort_by(.version)
| reverse[]
| .version as $version
| ([ $artifacts[$version][]
    | $added["\($version)/\(.name)"] as $line
    | {
        record: {
          id: $line.id,
          name,
          version: $version,
          description,
          checksum: .sha256,
          operating_system,
          min_os_version,
          max_os_version,
          package_type,
          created_date: $line.at,
          modified_date: $line.at,
          data: ({store, vendor, attestation} | with_entries(select(.value != null))),
          exclude_from_api: false,
          gui_only,
          headless,
          platform,
          only_for_account: null
        },
        artifact: {
          file: .name,
          url: "https://downloads.example.com/files/\($version)/\(.name)",
          size
        }
      }
  ] | sort_by(-.record.id)) as $packages
| {
    schema_version: 1,
    version,
    date,
    semver: (.version | split(".") | map(tonumber | tostring) | join(".")),
    released_at: ([$packages[].record.created_date] | min),
    summary: (.summary | rtrimstr("\n")),
    notes: [
      .notes | to_entries[] | .key as $component
      | .value | to_entries[] | .key as $kind
      | .value[]
      | {
          $component,
          kind: {fixes: "fix", features: "feature"}[$kind],
          text: rtrimstr("\n"),
          refs: [],
          security: false
        }
    ],
    packages: [$packages[].record],
    artifacts: ([$packages[] | {key: "\(.record.id)", value: .artifact}] | from_entries),
    retracted: []
  }
