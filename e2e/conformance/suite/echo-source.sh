#!/bin/sh
# Makes a module sigs.k8s.io/gateway-api-conformance-images in the folder given, for where no module proxy serves it: the
# echo server as it was before it moved there, in the suite of v1.6.3, under its new import path.
#
#   echo-source.sh FOLDER
#
# Only lines that import are rewritten: the descriptor in the generated protobuf file holds the old path with its length
# in front.
set -eu
old=sigs.k8s.io/gateway-api/conformance
new=sigs.k8s.io/gateway-api-conformance-images
folder=$1

source=$(go mod download -json "$old@v1.6.3" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",$/\1/p')
[ -n "$source" ] || { echo "echo-source.sh: $old@v1.6.3 could not be fetched" >&2; exit 1; }
rm -rf "$folder"
mkdir -p "$folder"
cp -R "$source/echo-basic" "$folder/"
chmod -R u+w "$folder"
find "$folder" -name '*_test.go' -delete
find "$folder" -name '*.go' -exec sed -i -E "s|^([[:space:]]*[a-z]* *\")$old/echo-basic/|\1$new/echo-basic/|" {} +
cat >"$folder/go.mod" <<END
module $new

go 1.26.0

require (
	golang.org/x/net v0.59.0
	google.golang.org/grpc v1.84.0
	google.golang.org/protobuf v1.36.12
)
END
