module splicepoint/judges

go 1.21

require (
	github.com/Eyevinn/dash-mpd v0.12.0
	github.com/Eyevinn/mp4ff v0.51.0
	github.com/asticode/go-astits v1.13.0
)

require (
	github.com/asticode/go-astikit v0.30.0 // indirect
	github.com/barkimedes/go-deepcopy v0.0.0-20220514131651-17c30cfc62df // indirect
)
