//go:build tools

// In charge of: importing the third-party programs that install.sh builds, so that go.mod pins their versions.
package judges

import (
	_ "github.com/Eyevinn/mp4ff/cmd/mp4ff-info"
	_ "github.com/Eyevinn/mp4ff/cmd/mp4ff-nallister"
	_ "github.com/Eyevinn/mp4ff/cmd/mp4ff-pslister"
)
