#!/bin/sh
# identity-gitlab.sh FILE: writes GitLab's identity token of this job to FILE. The storage grants a role for it, so no job needs a storage key.
set -eu
umask 077
printf '%s' "$AWS_ID_TOKEN" >"$1"
