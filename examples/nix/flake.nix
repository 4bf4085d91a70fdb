{
  description = "An appliance as a disk image for KVM and for Google Cloud";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs = { self, nixpkgs }:
    let
      # relcat's version, in the names of the images.
      release = "26.11.001";
      image = { module, name, extension }:
        let
          system = nixpkgs.lib.nixosSystem {
            system = "x86_64-linux";
            modules = [ ./appliance.nix module { system.image.version = release; } ];
          };
          pkgs = nixpkgs.legacyPackages.x86_64-linux;
        in
        # A store path with one file, whose name says what it is.
        pkgs.runCommand "appliance-${name}" { } ''
          mkdir $out
          cp ${system.config.system.build.image}/*.${extension} $out/appliance-${name}-${release}.${extension}
        '';
      images = "${nixpkgs}/nixos/modules/virtualisation";
    in
    {
      packages.x86_64-linux = {
        qcow-efi = image { module = "${images}/disk-image.nix"; name = "qcow-efi"; extension = "qcow2"; };
        gce = image { module = "${images}/google-compute-image.nix"; name = "gce"; extension = "tar.gz"; };
      };
    };
}
