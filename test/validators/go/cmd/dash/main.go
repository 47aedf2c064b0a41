// In charge of: reading an MPD and its segments as a player would, with dash-mpd and mp4ff, and comparing the manifest with
// the content of the segments. Prints a JSON array of findings, each with the violated rule.
// Not in charge of: the XML schema (test/support/manifests/mpdSchema.ts).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/Eyevinn/dash-mpd/mpd"
	"github.com/Eyevinn/mp4ff/avc"
	"github.com/Eyevinn/mp4ff/hevc"
	"github.com/Eyevinn/mp4ff/mp4"
)

type finding struct {
	Rule string `json:"rule"`
	Says string `json:"says"`
}

type judge struct {
	directory string
	findings  []finding
}

func (j *judge) says(rule, format string, values ...any) {
	j.findings = append(j.findings, finding{rule, fmt.Sprintf(format, values...)})
}

type segment struct {
	start, duration float64 // seconds
	bits            float64
}

// The part of an init segment with which players configure a decoder.
type initFacts struct {
	codecs        string
	width, height uint32
	sampleRate    uint32
	timescale     uint32
	colour        string
	trex          *mp4.TrexBox
	video         bool
}

func (j *judge) readInit(id, path string, cmaf bool) (*initFacts, bool) {
	data, err := os.ReadFile(filepath.Join(j.directory, path))
	if err != nil {
		j.says("ISO/IEC 23009-1 5.3.9.5.2: initialization segment", "%s: %v", id, err)
		return nil, false
	}
	file, err := mp4.DecodeFile(bytes.NewReader(data))
	if err != nil || file.Ftyp == nil || file.Init == nil || file.Init.Moov == nil || file.Init.Moov.Trak == nil || file.Init.Moov.Mvex == nil {
		j.says("ISO/IEC 14496-12 8.2.1: movie box", "%s: no movie with one track can be read in %s: %v", id, path, err)
		return nil, false
	}
	if cmaf {
		brands := append(file.Ftyp.CompatibleBrands(), file.Ftyp.MajorBrand())
		if !strings.Contains(strings.Join(brands, " "), "cmfc") {
			j.says("ISO/IEC 23000-19 7.2: brand of a CMAF header", "%s: %v", id, brands)
		}
		if file.Init.Moov.Trak.Edts != nil && strings.HasPrefix(file.Init.Moov.Trak.Mdia.Hdlr.HandlerType, "soun") {
			j.says("ISO/IEC 23000-19 7.5.13: edit lists", "%s has an edit list", id)
		}
		if len(file.Init.Moov.Traks) != 1 {
			j.says("ISO/IEC 23000-19 7.3.1: one track", "%s has %d", id, len(file.Init.Moov.Traks))
		}
	}
	track := file.Init.Moov.Trak
	facts := &initFacts{timescale: track.Mdia.Mdhd.Timescale, trex: file.Init.Moov.Mvex.Trex}
	table := track.Mdia.Minf.Stbl.Stsd
	switch {
	case table.AvcX != nil:
		entry := table.AvcX
		sps, err := avc.ParseSPSNALUnit(entry.AvcC.SPSnalus[0], true)
		if err != nil {
			j.says("ISO/IEC 14496-15 5.3.3: parameter sets", "%s: %v", id, err)
			return nil, false
		}
		facts.codecs, facts.width, facts.height = avc.CodecString(entry.Type(), sps), uint32(sps.Width), uint32(sps.Height)
		if uint32(entry.Width) != facts.width || uint32(entry.Height) != facts.height {
			j.says("ISO/IEC 14496-12 12.1.3: size of a sample entry", "%s: %dx%d, its SPS %dx%d", id, entry.Width, entry.Height, sps.Width, sps.Height)
		}
		facts.colour, facts.video = colour(entry), true
	case table.HvcX != nil:
		entry := table.HvcX
		sps, err := hevc.ParseSPSNALUnit(entry.HvcC.GetNalusForType(hevc.NALU_SPS)[0])
		if err != nil {
			j.says("ISO/IEC 14496-15 8.3.3: parameter sets", "%s: %v", id, err)
			return nil, false
		}
		facts.codecs = hevc.CodecString(entry.Type(), sps)
		facts.width, facts.height = sps.ImageSize()
		facts.colour, facts.video = colour(entry), true
	case table.Mp4a != nil:
		facts.codecs, facts.sampleRate = "mp4a.40.2", uint32(table.Mp4a.SampleRate)
	case table.AC3 != nil:
		facts.codecs, facts.sampleRate = "ac-3", uint32(table.AC3.SampleRate)
	default:
		j.says("ISO/IEC 23000-19 9.4: sample entry", "%s has an unknown one", id)
	}
	return facts, true
}

func colour(entry *mp4.VisualSampleEntryBox) string {
	for _, child := range entry.Children {
		if box, is := child.(*mp4.ColrBox); is {
			return fmt.Sprintf("primaries %d, transfer %d, matrix %d, full range %v",
				box.ColorPrimaries, box.TransferCharacteristics, box.MatrixCoefficients, box.FullRangeFlag)
		}
	}
	return "none"
}

func (j *judge) readSegment(name, path string, facts *initFacts, start, duration uint64, timescale uint32, isCmaf bool) (segment, bool) {
	at := segment{start: float64(start) / float64(timescale), duration: float64(duration) / float64(timescale)}
	data, err := os.ReadFile(filepath.Join(j.directory, path))
	if err != nil {
		j.says("ISO/IEC 23009-1 5.3.9.5: media segment", "%s: %v", name, err)
		return at, false
	}
	at.bits = 8 * float64(len(data))
	file, err := mp4.DecodeFile(bytes.NewReader(data))
	if err != nil || len(file.Segments) != 1 {
		j.says("ISO/IEC 14496-12 8.8.4: movie fragments", "%s cannot be read: %v", name, err)
		return at, false
	}
	var total uint64
	var next uint64
	lowest, first := int64(math.MaxInt64), int64(0)
	for number, fragment := range file.Segments[0].Fragments {
		track := fragment.Moof.Traf
		begins := track.Tfdt.BaseMediaDecodeTime()
		if number > 0 && begins != next {
			j.says("ISO/IEC 23000-19 7.3.2.3: fragments without gaps", "%s: fragment %d begins at %d instead of %d", name, number, begins, next)
		}
		if number == 0 && float64(begins)/float64(facts.timescale) != at.start {
			j.says("ISO/IEC 23009-1 5.3.9.6: segment timeline", "%s begins at %d, the manifest says %d", name, begins, start)
		}
		if isCmaf && (track.Tfhd.Flags&0x020000) == 0 {
			j.says("ISO/IEC 23000-19 7.5.16: default-base-is-moof", "%s lacks it", name)
		}
		if isCmaf && len(track.Truns) != 1 {
			j.says("ISO/IEC 23000-19 7.5.17: one track run", "%s has %d", name, len(track.Truns))
		}
		samples, err := fragment.GetFullSamples(facts.trex)
		if err != nil || len(samples) == 0 {
			j.says("ISO/IEC 14496-12 8.8.8: track run", "%s: %v", name, err)
			return at, false
		}
		if number == 0 {
			first = samples[0].PresentationTime()
			if !samples[0].IsSync() && facts.video {
				j.says("ISO/IEC 23009-1 5.3.3.2: startWithSAP 1", "%s does not begin with a sync sample", name)
			}
		}
		next = begins
		for _, sample := range samples {
			total += uint64(sample.Dur)
			next += uint64(sample.Dur)
			lowest = min(lowest, sample.PresentationTime())
		}
	}
	if lowest < first {
		j.says("ISO/IEC 23009-1 5.3.3.2: startWithSAP 1", "%s shows a frame before its first one", name)
	}
	if math.Abs(float64(total)/float64(facts.timescale)-at.duration) > 1e-9 {
		j.says("ISO/IEC 23009-1 5.3.9.6: segment timeline", "%s lasts %d, the manifest says %d", name, total, duration)
	}
	return at, true
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func (j *judge) requireBandwidth(id string, segments []segment, bandwidth uint32, buffered float64) {
	for from := range segments {
		var bits float64
		for to := from; to < len(segments); to++ {
			bits += segments[to].bits
			time := buffered + segments[to].start + segments[to].duration - segments[from].start
			if bits > float64(bandwidth)*time*1.000001 {
				j.says("ISO/IEC 23009-1 5.3.5.2: bandwidth", "%s: segments %d to %d have %.0f bits, %d bit/s allow %.0f", id, from+1, to+1, bits, bandwidth, float64(bandwidth)*time)
				return
			}
		}
	}
}

func (j *judge) readRepresentation(r *mpd.RepresentationType, m *mpd.MPD, isCmaf bool) ([]segment, *initFacts) {
	template := r.GetSegmentTemplate()
	if template == nil || template.SegmentTimeline == nil || template.StartNumber == nil {
		return nil, nil
	}
	init, err := r.GetInit()
	if err != nil {
		j.says("ISO/IEC 23009-1 5.3.9.4: initialization", "%s: %v", r.Id, err)
		return nil, nil
	}
	facts, ok := j.readInit(r.Id, init, isCmaf)
	if !ok {
		return nil, nil
	}
	if !strings.EqualFold(facts.codecs, r.Codecs) { // hexadecimal digits of either case
		j.says("RFC 6381: codecs", "%s is %s, the manifest says %s", r.Id, facts.codecs, r.Codecs)
	}
	if facts.video && (facts.width != r.Width || facts.height != r.Height) {
		j.says("ISO/IEC 23009-1 5.3.7: size", "%s is %dx%d, the manifest says %dx%d", r.Id, facts.width, facts.height, r.Width, r.Height)
	}
	if !facts.video && (r.AudioSamplingRate == nil || string(*r.AudioSamplingRate) != fmt.Sprint(facts.sampleRate)) {
		j.says("ISO/IEC 23009-1 5.3.7: audioSamplingRate", "%s has %d Hz", r.Id, facts.sampleRate)
	}
	timescale := template.GetTimescale()
	number := *template.StartNumber
	var time uint64
	var segments []segment
	for _, entry := range template.SegmentTimeline.S {
		if entry.T != nil {
			if len(segments) > 0 && *entry.T != time {
				j.says("DASH-IF IOP 4.3, 3.2.10: no gaps", "%s has a gap at %d", r.Id, time)
			}
			time = *entry.T
		}
		for again := 0; again <= entry.R; again++ {
			path := strings.NewReplacer("$Number%05d$", fmt.Sprintf("%05d", number), "$Number$", fmt.Sprint(number),
				"$Time$", fmt.Sprint(time), "$RepresentationID$", r.Id).Replace(template.Media)
			name := fmt.Sprintf("%s, segment %d", r.Id, number)
			if one, read := j.readSegment(name, path, facts, time, entry.D, timescale, isCmaf); read {
				if longest := m.MaxSegmentDuration; longest != nil && one.duration > longest.Seconds()+1e-6 {
					j.says("ISO/IEC 23009-1 5.3.1.2: maxSegmentDuration", "%s lasts %f s", name, one.duration)
				}
				segments = append(segments, one)
			}
			number++
			time += entry.D
		}
	}
	j.requireBandwidth(r.Id, segments, r.Bandwidth, m.MinBufferTime.Seconds())
	return segments, facts
}

func (j *judge) readSet(set *mpd.AdaptationSetType, m *mpd.MPD, isCmaf bool) {
	var others []segment
	var colours string
	for number, r := range set.Representations {
		segments, facts := j.readRepresentation(r, m, isCmaf)
		if facts == nil {
			continue
		}
		if set.MaxWidth > 0 && (r.Width > set.MaxWidth || r.Height > set.MaxHeight) {
			j.says("ISO/IEC 23009-1 5.3.3.2: maxWidth", "%s is larger", r.Id)
		}
		if number > 0 && facts.colour != colours {
			j.says("DASH-IF IOP 4.3, 6.2.5: one colour in a set", "%s has %s, others %s", r.Id, facts.colour, colours)
		}
		colours = facts.colour
		for at := range segments {
			if others != nil && set.SegmentAlignment && (len(others) != len(segments) ||
				math.Abs(others[at].start-segments[at].start) > 1e-9) {
				j.says("ISO/IEC 23009-1 5.3.3.2: segmentAlignment", "%s is not aligned at segment %d", r.Id, at+1)
				break
			}
		}
		if len(segments) > 0 && m.MediaPresentationDuration != nil {
			last := segments[len(segments)-1]
			if over := last.start + last.duration - m.MediaPresentationDuration.Seconds(); over > 0.033 { // an audio frame cannot be divided
				j.says("ISO/IEC 23009-1 5.3.1.2: mediaPresentationDuration", "%s ends %f s later", r.Id, over)
			}
		}
		others = segments
	}
}

func main() {
	j := &judge{directory: filepath.Dir(os.Args[1]), findings: []finding{}}
	if m, err := mpd.ReadFromFile(os.Args[1]); err != nil {
		j.says("ISO/IEC 23009-1 5.2: media presentation description", "%v", err)
	} else {
		isCmaf := strings.Contains(string(m.Profiles), "urn:mpeg:dash:profile:cmaf:2019")
		ids := map[string]bool{}
		for _, period := range m.Periods {
			for _, set := range period.AdaptationSets {
				for _, r := range set.Representations {
					if ids[r.Id] {
						j.says("ISO/IEC 23009-1 5.3.5.2: unique ids", "%s twice", r.Id)
					}
					ids[r.Id] = true
				}
				j.readSet(set, m, isCmaf)
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(j.findings); err != nil {
		os.Exit(1)
	}
}
