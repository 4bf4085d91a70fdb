#!/bin/sh
# identity-gitlab.sh FILE: writes there who this job is, as GitLab vouches for it. The storage gives a role for it: no job keeps a key of the storage.
set -eu
umask 077
printf '%s' "$AWS_ID_TOKEN" >"$1"
